// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_shares.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_operations.h"
#include "src/dry_run/small_tensor_info.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kScatter = "34_cuda_scatter_fill_internal_kernelINS0_10OpaqueTypeILi";
constexpr std::string_view kScatterOfNumbers =
    "36_cuda_scatter_gather_internal_kernelILb1ENS0_10OpaqueTypeILi";
constexpr std::string_view kHistogram = "_ZN2at4cuda17kernelHistogram1DI";
constexpr std::string_view kLargest = "10gatherTopKI";
constexpr std::string_view kCopy = "direct_copy_kernel_cuda";
constexpr std::string_view kConvertingCopy = "converting_copy_kernel_cuda";

/// Whether of so many elements all are the same, and have a bit that is not 0.
bool are_one_number(const void* from, std::size_t count, std::size_t width,
                    const KnownBytes& known) {
  const auto bytes = known.find(from, count * width);
  const auto is_bit = [](unsigned char byte) { return byte != 0; };
  return std::ranges::any_of(bytes, is_bit) &&
         std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(width), bytes.end(), bytes.begin());
}

/// (how many indices, {where they, what is written to and what is read lie; indices, length of the
/// dimension, a functor, what is written to, its stride, how many elements it has, the number or
/// what is read}).
bool run_scatter_anywhere(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const bool is_of_tensor = has(name, kScatterOfNumbers);
  const std::size_t width = opaque_bytes(name);
  const char* const captured = static_cast<const char*>(arguments[1]) +
                               whole_parts(Offsets::bytes(is_of_tensor ? 3 : 2), alignof(void*));
  const auto word = [&](std::size_t index) { return at<std::int64_t>(captured, index * 8); };
  const auto* const to = at<const void*>(captured, 3 * 8);
  const std::int64_t count = at<int>(arguments[0]);
  const std::int64_t length = word(1);
  const std::int64_t elements = word(5);
  const bool is_laid_out = owns(at<const void*>(captured)) && owns(to) && length > 0 &&
                           count <= elements && elements % length == 0;
  if (!is_laid_out || width == 0) return false;
  std::int64_t number = 0;
  std::memcpy(&number, captured + 6 * 8, std::min(width, sizeof(number)));
  const auto size = static_cast<std::size_t>(elements) * width;
  const bool is_number = is_of_tensor
                             ? are_one_number(at<const void*>(captured, 6 * 8),
                                              static_cast<std::size_t>(count), width, known)
                             : number != 0;
  if (!is_number) return known.forget(to, size), true;
  known.set_share(to, size, static_cast<double>(count) / static_cast<double>(elements));
  return true;
}

/// So many numbers in the bins.
template <class T>
void put_even(std::int64_t count, std::int64_t bins, const void* to, KnownBytes& known) {
  std::vector<T> counts;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    counts.push_back(static_cast<T>(count / bins + (bin < count % bins ? 1 : 0)));
  }
  known.set(to, counts.data(), counts.size() * sizeof(T), kAssumed);
}

/// How many of whole numbers lie in each of the bins between two numbers, as wide as each other.
/// Empty: the numbers are of another type.
template <class T>
Numbers counted_in_bins(const std::vector<unsigned char>& bytes, std::int64_t bins,
                        std::int64_t least, std::int64_t most) {
  Numbers counts(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    const auto number = static_cast<std::int64_t>(at<T>(bytes.data(), i));
    if (number < least || number > most) continue;
    const std::int64_t bin = std::min((number - least) * bins / (most - least), bins - 1);
    ++counts[static_cast<std::size_t>(bin)];
  }
  return counts;
}

/// False: it is not known which numbers there are, or their type is none that is followed.
bool put_counts(c10::ScalarType type, void** arguments, KnownBytes& known, Owns owns) {
  const auto bins = at<std::int64_t>(arguments[3]);
  const auto least = at<std::int64_t>(arguments[4]);
  const auto most = at<std::int64_t>(arguments[5]);
  const TensorInfo from(arguments[2], sizeof(std::int64_t));
  if (!c10::isIntegralType(type, /*includeBool=*/false) || least >= most || !owns(from.data()) ||
      !from.is_laid_out() || from.reach() != from.elements()) {
    return false;
  }
  Inputs inputs(known);
  const auto bytes = inputs.bytes(from.data(), from.elements() * bytes_of_type(type));
  if (bytes.empty()) return false;
  with_type(type, [&](auto zero) {
    const Numbers counts = counted_in_bins<decltype(zero)>(bytes, bins, least, most);
    known.set(at<const void*>(arguments[0]), counts.data(), counts.size() * sizeof(counts[0]),
              inputs.trust());
  });
  return true;
}

/// (bins, sums of blocks, numbers, how many bins, least, most, how many numbers, ...), the first
/// three at::cuda::detail::TensorInfo.
bool run_histogram(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const std::string_view types = name.substr(kHistogram.size(), 3);  // of bins, numbers, sizes
  const auto* const to = at<const void*>(arguments[0]);
  const auto bins = at<std::int64_t>(arguments[3]);
  const auto count = at<std::int64_t>(arguments[6]);
  if (types[2] != 'l' || !owns(to) || bins < 1 || count < 0) return false;
  const auto type = type_named(types.substr(1));
  if (types[0] == 'l' && type && put_counts(*type, arguments, known, owns)) return true;
  if (types[0] == 'l') return put_even<std::int64_t>(count, bins, to, known), true;
  if (types[0] == 'i') return put_even<std::int32_t>(count, bins, to, known), true;
  if (types[0] == 'f') return put_even<float>(count, bins, to, known), true;
  return false;
}

/// (from, length of a row, how many of it, bool, rows, stride, the largest, their stride, where
/// they stood, ...). The host reads other places for each of a row, from the middle on: where they
/// are words, the first may end a text.
bool run_places_of_largest(void** arguments, KnownBytes& known, Owns owns) {
  const auto* const places = at<const void*>(arguments[8]);
  const auto length = at<std::uint32_t>(arguments[1]);
  const auto most = at<std::uint32_t>(arguments[2]);
  const std::size_t count = std::size_t{most} * at<std::uint32_t>(arguments[4]);
  if (!owns(places) || length == 0 || most == 0) return false;
  Numbers of_row;
  for (std::uint32_t i = 0; i < most; ++i) of_row.push_back((length / 2 + i) % length);
  std::vector<unsigned char> bytes(most * sizeof(std::int64_t));
  std::memcpy(bytes.data(), of_row.data(), bytes.size());
  known.guess_below(places, count * sizeof(std::int64_t), length, std::move(bytes));
  return false;  // the largest are written as well
}

struct Copied {
  const void* from;
  const void* to;
  std::size_t most_bytes;  // that are written
};

/// Nothing: its arguments are not laid out as expected.
std::optional<Copied> copied_by(const SmallLaunch& launch) {
  const std::string_view name(launch.name);
  if (!has(name, "18elementwise_kernelI")) {
    const Elementwise elements(launch.arguments);
    constexpr std::size_t kWidest = 8;
    return Copied{elements.pointer(1), elements.pointer(0), elements.count * kWidest};
  }
  const Operation* const operation = find_operation(name);
  if (operation == nullptr) return std::nullopt;
  const auto operands = find_operands(name, launch.arguments, operation->signature);
  if (!operands || operands->tensors.size() != 2) return std::nullopt;
  const Operands::Tensor& to = operands->tensors[0];
  return Copied{operands->tensors[1].data, to.data, to.reach(operands->sizes)};
}

}  // namespace

bool is_share(const char* name) {
  return has(name, kScatter) || has(name, kScatterOfNumbers) || has(name, kHistogram) ||
         has(name, kLargest);
}

bool run_share(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kScatter) || has(name, kScatterOfNumbers)) {
    return run_scatter_anywhere(name, arguments, known, owns);
  }
  if (has(name, kLargest)) return run_places_of_largest(arguments, known, owns);
  return run_histogram(name, arguments, known, owns);
}

bool run_copy_of_share(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  if (!known.has_shares()) return false;
  if (!has(launch.name, kCopy) && !has(launch.name, kConvertingCopy)) return false;
  const auto copied = copied_by(launch);
  if (!copied || !owns(copied->from) || !owns(copied->to)) return false;
  const auto behind = static_cast<std::size_t>(launch.blocks.behind(copied->to));
  return known.copy_share(copied->to, std::min(copied->most_bytes, behind), copied->from);
}

}  // namespace headroom::dry_run
