// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

/// TensorListMetadata<1> as PyTorch 2.1 to 2.11 have it: {tensor[110]; int64 elements[110];
/// unsigned char tensor_of_block[320]; int chunk_of_block[320]; ...}. A block takes a chunk of its
/// tensor.
struct Lists {
  static constexpr std::size_t kTensors = 110;
  static constexpr std::size_t kBlocks = 320;
  static constexpr std::size_t kElements = kTensors * sizeof(void*);
  static constexpr std::size_t kTensorOfBlock = kElements + kTensors * sizeof(std::int64_t);
  static constexpr std::size_t kChunkOfBlock = kTensorOfBlock + kBlocks;

  const char* tensor(std::size_t block) const {
    return at<const char*>(begin, number(block) * sizeof(void*));
  }
  std::int64_t elements(std::size_t block) const {
    return at<std::int64_t>(begin, kElements + number(block) * sizeof(std::int64_t));
  }
  int chunk(std::size_t block) const { return at<int>(begin, kChunkOfBlock + block * sizeof(int)); }
  std::size_t number(std::size_t block) const {
    return at<unsigned char>(begin, kTensorOfBlock + block);
  }

  const void* begin;
};

void add(const char* to, std::size_t elements, float number, KnownBytes& known) {
  const std::size_t size = elements * sizeof(float);
  Inputs inputs(known);
  const auto bytes = inputs.bytes(to, size);
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  for (float& each : numbers) each += number;
  put(known, to, {numbers.data(), size, !numbers.empty()}, inputs);
}

}  // namespace

bool adds_to_lists(const char* name) {
  return has(name, "25multi_tensor_apply_kernelI") && has(name, "18TensorListMetadataILi1EEE") &&
         has(name, "21BinaryOpScalarFunctorIfLi1ELi1ELi0EEEJSt4plusIfEfEE");
}

/// (lists, functor, operation, float number).
bool run_add_to_lists(void** arguments, unsigned blocks, KnownBytes& known, Owns owns) {
  const Lists lists{arguments[0]};
  if (blocks > Lists::kBlocks) return false;
  // Newer versions have room for more tensors: there, blocks seem to take none in order.
  for (std::size_t block = 0; block < blocks; ++block) {
    const bool is_first = lists.chunk(block) == 0;
    if (lists.number(block) >= Lists::kTensors || lists.elements(block) <= 0 ||
        !owns(lists.tensor(block)) ||
        (block > 0 && lists.number(block) != lists.number(block - 1) + (is_first ? 1 : 0))) {
      return false;
    }
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    if (lists.chunk(block) != 0) continue;  // with the first
    add(lists.tensor(block), static_cast<std::size_t>(lists.elements(block)),
        at<float>(arguments[3]), known);
  }
  return true;
}

}  // namespace headroom::dry_run
