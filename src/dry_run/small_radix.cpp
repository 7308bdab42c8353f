// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_radix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_order.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kAtOnce = "DeviceRadixSortSingleTileKernelI";
constexpr std::string_view kOfOneDigit = "DeviceRadixSortOnesweepKernelI";
constexpr std::string_view kHistogramOfDigits = "DeviceRadixSortHistogramKernelI";
constexpr std::string_view kSumsOfDigits = "DeviceRadixSortExclusiveSumKernelI";
constexpr std::string_view kRange = "27fill_reverse_indices_kernelEPl";
constexpr std::string_view kRowsAndPlaces = "29fill_index_and_segment_kernelE";
constexpr std::string_view kIntoRows = "23sort_postprocess_kernelI";

/// <policy, order, type of keys, of values, ...>: CUDA 12's names say the order by a bool. Of types
/// that are classes the policy names them first.
struct RadixForm {
  bool is_descending;
  c10::ScalarType type;
  std::size_t value_bytes;  // 0: there are only keys
};

std::optional<RadixForm> radix_form(std::string_view name) {
  for (const std::string_view order : {"SortOrderE0E", "SortOrderE1E", "ELb0E", "ELb1E"}) {
    const std::size_t place = name.find(order);
    if (place == std::string_view::npos) continue;
    std::string_view types = name.substr(place + order.size());
    const auto type = take_type(types);
    if (!type) return std::nullopt;
    if (has(name, "NullType")) return RadixForm{order.find('1') != order.npos, *type, 0};
    const std::size_t bytes = types.starts_with('l') ? sizeof(std::int64_t) : opaque_bytes(name);
    if (bytes == 0) return std::nullopt;
    return RadixForm{order.find('1') != order.npos, *type, bytes};
  }
  return std::nullopt;
}

struct RadixLaunch {
  const void* keys;
  const void* to_keys;
  const void* values;
  const void* to_values;
  std::size_t count;
  unsigned bit;
  unsigned bits;
};

/// (keys, to, values, to, how many, first bit, last bit, ...), or of one digit (-, -, -, -, to,
/// keys, to, values, int how many, first bit, how many bits, ...).
RadixLaunch radix_launch(std::string_view name, void** arguments) {
  if (has(name, kAtOnce)) {
    const auto first = at<std::uint32_t>(arguments[5]);
    return {pointer(arguments, 0),
            pointer(arguments, 1),
            pointer(arguments, 2),
            pointer(arguments, 3),
            at<std::size_t>(arguments[4]),
            first,
            at<std::uint32_t>(arguments[6]) - first};
  }
  return {pointer(arguments, 5),           pointer(arguments, 4),
          pointer(arguments, 7),           pointer(arguments, 6),
          at<std::uint32_t>(arguments[8]), at<std::uint32_t>(arguments[9]),
          at<std::uint32_t>(arguments[10])};
}

/// In which order keys come that differ in some bits alone.
template <class T>
std::vector<std::size_t> order_of(const Bytes& keys, const RadixLaunch& launch,
                                  bool is_descending) {
  const std::uint64_t mask =
      launch.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << launch.bits) - 1;
  std::vector<std::uint64_t> digits;
  for (std::size_t i = 0; i < launch.count; ++i) {
    digits.push_back(ordered_bits(at<T>(keys.data(), i * sizeof(T))) >> launch.bit & mask);
  }
  std::vector<std::size_t> order(launch.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    return comes_first(digits[one], digits[other], is_descending);
  });
  return order;
}

Bytes in_order(const Bytes& bytes, std::size_t width, const std::vector<std::size_t>& order) {
  Bytes result(order.size() * width);
  for (std::size_t i = 0; i < order.size() && !bytes.empty(); ++i) {
    std::copy_n(&bytes[order[i] * width], width, &result[i * width]);
  }
  return result;
}

bool run_pairs(const RadixForm& form, const RadixLaunch& launch, KnownBytes& known, Owns owns) {
  const std::size_t width = bytes_of_type(form.type);
  const bool has_values = form.value_bytes > 0;
  if (!owns(launch.keys) || launch.count == 0 || launch.bits > 64 || launch.bit > 63 ||
      (has_values && (!owns(launch.values) || !owns(launch.to_values)))) {
    return false;
  }
  // Whoever wants no keys gives nowhere to put them.
  const std::size_t key_bytes = owns(launch.to_keys) ? launch.count * width : 0;
  Inputs inputs(known);
  const Bytes keys = inputs.bytes(launch.keys, launch.count * width);
  Bytes values;
  if (has_values) values = inputs.bytes(launch.values, launch.count * form.value_bytes);
  if (keys.empty()) {  // in whatever order, no place comes twice
    known.forget(launch.to_keys, key_bytes);
    const std::size_t size = launch.count * form.value_bytes;
    if (!values.empty()) {
      known.set(launch.to_values, values.data(), size, kAssumed);
    } else if (has_values) {
      known.forget(launch.to_values, size);
    }
    return true;
  }
  std::vector<std::size_t> order;
  with_type(form.type,
            [&](auto zero) { order = order_of<decltype(zero)>(keys, launch, form.is_descending); });
  const bool are_values_known = !values.empty();
  const Bytes sorted = in_order(keys, width, order);
  values = in_order(values, form.value_bytes, order);
  if (key_bytes > 0) put(known, launch.to_keys, {sorted.data(), key_bytes, true}, inputs);
  if (has_values) {
    put(known, launch.to_values, {values.data(), values.size(), are_values_known}, inputs);
  }
  return true;
}

/// Of sorts of several rows at once the values are {int row, place in it}; of those of one row, the
/// place in 8 bytes. (values, how many, {length of a row, ...}).
bool run_range_in_rows(bool has_rows, void** arguments, KnownBytes& known, Owns owns) {
  constexpr unsigned kBits = 32;
  const void* const to = pointer(arguments, 0);
  const auto count = at<std::uint32_t>(arguments[1]);
  const auto length = at<std::uint32_t>(arguments[2]);
  if (!owns(to) || count == 0 || length == 0) return false;
  const std::size_t size = std::size_t{count} * sizeof(std::int64_t);
  if (size > KnownBytes::kMaxBytesOfNumbers) return known.forget(to, size), true;
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(has_rows ? i % length << kBits | i / length : i % length);
  }
  known.set(to, numbers.data(), size);
  return true;
}

/// sort_postprocess_kernel<type>(numbers, to, int64 places, {int row, place}, int rows, length).
bool run_into_rows(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  constexpr std::size_t kPlace = sizeof(std::int64_t);
  const std::size_t width = bytes_of_type(*type_behind(name, kIntoRows));
  const std::size_t length = at<std::uint32_t>(arguments[5]);
  const std::size_t count = at<std::uint32_t>(arguments[4]) * length;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!owns(pointer(arguments, i))) return false;
  }
  Inputs inputs(known);
  const Bytes numbers = inputs.bytes(pointer(arguments, 0), count * width);
  const Bytes sorted = inputs.bytes(pointer(arguments, 3), count * kPlace);
  const bool is_known = !numbers.empty() && !sorted.empty();
  Bytes values(is_known ? count * width : 0);
  Numbers places;
  for (std::size_t i = 0; i < count && is_known; ++i) {
    const std::size_t place = at<std::uint32_t>(sorted.data(), i * kPlace + sizeof(int));
    if (place >= length) return false;
    places.push_back(static_cast<std::int64_t>(place));
    std::copy_n(&numbers[(i / length * length + place) * width], width, &values[i * width]);
  }
  put(known, pointer(arguments, 1), {values.data(), count * width, is_known}, inputs);
  put(known, pointer(arguments, 2), {places.data(), count * kPlace, is_known}, inputs);
  return true;
}

/// (bins of each digit, keys, how many, int first bit, last bit, ...): no one reads the bins but
/// these kernels, of which another adds them up.
bool forget_bins(void** arguments, KnownBytes& known, Owns owns) {
  constexpr std::uint32_t kBits = 8;  // of a digit
  constexpr std::size_t kBins = 256 * sizeof(std::uint64_t);
  const void* const bins = pointer(arguments, 0);
  const std::uint32_t bits = at<std::uint32_t>(arguments[4]) - at<std::uint32_t>(arguments[3]);
  if (!owns(bins) || bits > 64) return false;
  known.forget(bins, parts(bits, kBits) * kBins);
  return true;
}

}  // namespace

bool is_radix_sort(const char* name) {
  if (has(name, kRange) || has(name, kRowsAndPlaces)) return true;
  if (has(name, kIntoRows)) return type_behind(name, kIntoRows) && !has(name, "PKT0_");
  if (has(name, kHistogramOfDigits) || has(name, kSumsOfDigits)) return true;
  return (has(name, kOfOneDigit) || has(name, kAtOnce)) && radix_form(name);
}

bool run_radix_sort(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kRange)) return run_range_in_rows(/*has_rows=*/false, arguments, known, owns);
  if (has(name, kRowsAndPlaces))
    return run_range_in_rows(/*has_rows=*/true, arguments, known, owns);
  if (has(name, kIntoRows)) return run_into_rows(name, arguments, known, owns);
  if (has(name, kSumsOfDigits)) return owns(pointer(arguments, 0));
  if (has(name, kHistogramOfDigits)) return forget_bins(arguments, known, owns);
  return run_pairs(*radix_form(name), radix_launch(name, arguments), known, owns);
}

}  // namespace headroom::dry_run
