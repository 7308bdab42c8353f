// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_flip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

/// {where elements of the result and of the input lie, the result's first, the input's first}: the
/// result's strides are negative in a dimension that is turned around.
struct Flip {
  explicit Flip(const void* functor)
      : places(functor, 2),
        to(at<const char*>(functor, Offsets::bytes(2))),
        from(at<const char*>(functor, Offsets::bytes(2) + sizeof(void*))) {}

  /// Of the result, in bytes from `to`.
  std::ptrdiff_t place(std::size_t element) const {
    std::ptrdiff_t offset = 0;
    for (std::size_t i = 0; i < places.dimensions(); ++i) {
      offset += static_cast<std::ptrdiff_t>(element % places.size(i)) * step(i);
      element /= places.size(i);
    }
    return offset;
  }
  std::ptrdiff_t step(std::size_t dimension) const {
    return static_cast<std::int32_t>(places.stride(dimension, 0));
  }

  Offsets places;
  const char* to;
  const char* from;
};

constexpr std::string_view kRoll = "16roll_cuda_kernelI";

/// <T>(const T* from, T* to, int64 count, -, first of the dimension, its size, stride, -): along
/// one dimension elements move to its begin.
bool run_roll(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const auto number = [&](std::size_t index) { return at<std::size_t>(arguments[index]); };
  const std::size_t width = bytes_of_type(*type_behind(name, kRoll));
  const std::size_t length = number(5);
  const std::size_t row = length * number(6);  // elements
  const void* const to = pointer(arguments, 1);
  const std::size_t size = number(2) * width;
  if (!owns(pointer(arguments, 0)) || !owns(to) || row == 0 || number(2) % row != 0) return false;
  if (size > KnownBytes::max_bytes(width)) return known.forget(to, size), true;
  Inputs inputs(known);
  const auto bytes = inputs.bytes(pointer(arguments, 0), size);
  std::vector<unsigned char> rolled(size);
  for (std::size_t i = 0; i < number(2) && !bytes.empty(); ++i) {
    const std::size_t from = i / row * row + (i % row + number(4) * number(6)) % row;
    std::copy_n(&bytes[from * width], width, &rolled[i * width]);
  }
  put(known, to, {rolled.data(), size, !bytes.empty()}, inputs);
  return true;
}

}  // namespace

bool is_flip(const char* name) {
  if (has(name, kRoll)) return type_behind(name, kRoll).has_value();
  return has(name, "24index_elementwise_kernelI") && has(name, "16flip_kernel_implI");
}

/// index_elementwise_kernel(int count, functor).
bool run_flip(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kRoll)) return run_roll(name, arguments, known, owns);
  const Flip flip(arguments[1]);
  const auto count = static_cast<std::size_t>(at<int>(arguments[0]));
  const std::size_t width = opaque_bytes(name);
  if (width == 0 || count == 0 || count * width > KnownBytes::max_bytes(width) ||
      !flip.places.is_laid_out() || !owns(flip.to) || !owns(flip.from)) {
    return false;
  }
  std::ptrdiff_t least = 0;
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < flip.places.dimensions(); ++i) {
    const std::ptrdiff_t last = (std::ptrdiff_t{flip.places.size(i)} - 1) * flip.step(i);
    (last < 0 ? least : most) += last;
  }
  const std::size_t size = count * width;
  if (static_cast<std::size_t>(most - least) + width != size) return false;
  Inputs inputs(known);
  const auto bytes = inputs.bytes(flip.from, flip.places.last(1) + width);
  std::vector<unsigned char> turned(size);
  for (std::size_t i = 0; i < count && !bytes.empty(); ++i) {
    std::copy_n(&bytes[flip.places.of(i, 1)], width, &turned[flip.place(i) - least]);
  }
  put(known, flip.to + least, {turned.data(), size, !bytes.empty()}, inputs);
  return true;
}

}  // namespace headroom::dry_run
