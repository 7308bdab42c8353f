// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_scans.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kScanOfAll = "DeviceScanKernelI";          // CUB's, of one dimension
constexpr std::string_view kPreparation = "20DeviceScanInitKernelI";  // of what nobody else reads
constexpr std::string_view kScanOfRows = "32tensor_kernel_scan_innermost_dimI";
constexpr std::string_view kScanOfColumns = "28tensor_kernel_scan_outer_dimI";

bool has_type(std::string_view name, std::string_view sum) {
  return has(name, sum) && (has(name, kScanOfRows) || has(name, kScanOfColumns) ||
                            (has(name, kScanOfAll) && has(name, "NullType")));
}
bool is_of_64_bits(std::string_view name) { return has_type(name, "St4plusIlE"); }
bool is_of_32_bits(std::string_view name) { return has_type(name, "St4plusIiE"); }

/// Sums along the middle one of three dimensions.
struct Scan {
  const void* from;
  const void* to;
  std::size_t outer = 1;
  std::size_t length = 1;
  std::size_t inner = 1;

  std::size_t elements() const { return outer * length * inner; }
};

/// (from, to, -, -, -, -, length), (to, from, rows, length, ...), (to, from, outer, inner, length,
/// ...).
Scan scan_of(std::string_view name, void** arguments) {
  const auto size = [&](std::size_t place) -> std::size_t {
    return at<std::uint32_t>(arguments[place]);
  };
  const void* const first = pointer(arguments, 0);
  const void* const second = pointer(arguments, 1);
  if (has(name, kScanOfRows)) return {second, first, size(2), size(3)};
  if (has(name, kScanOfColumns)) return {second, first, size(2), size(4), size(3)};
  return {.from = first, .to = second, .length = size(6)};
}

template <class T>
void run_sums(const Scan& scan, KnownBytes& known) {
  const std::size_t size = scan.elements() * sizeof(T);
  if (size > KnownBytes::kMaxBytes) return known.forget(scan.to, size);
  Inputs inputs(known);
  const auto bytes = inputs.bytes(scan.from, size);
  std::vector<T> sums(bytes.size() / sizeof(T));
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  // Of a mask that is not known all counts for kept. By its sums programs number what begins where
  // it holds: packed texts, of which each token would be one.
  const bool is_mask = std::ranges::all_of(sums, [](T each) { return each == 1; });
  if (inputs.trust().is_assumed && is_mask) return known.forget(scan.to, size);
  for (std::size_t i = scan.inner; i < sums.size(); ++i) {
    const bool is_first = i / scan.inner % scan.length == 0;
    if (!is_first) sums[i] += sums[i - scan.inner];
  }
  put(known, scan.to, {sums.data(), size, !sums.empty()}, inputs);
}

}  // namespace

bool is_scan(const char* name) {
  return is_of_64_bits(name) || is_of_32_bits(name) || has(name, kPreparation);
}

bool run_scan(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kPreparation)) return true;
  const Scan scan = scan_of(name, arguments);
  if (!owns(scan.from) || !owns(scan.to) || scan.elements() == 0) return false;
  if (is_of_64_bits(name)) {
    run_sums<std::int64_t>(scan, known);
  } else {
    run_sums<std::int32_t>(scan, known);
  }
  return true;
}

}  // namespace headroom::dry_run
