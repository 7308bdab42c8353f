// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_scans.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/dry_run/small_formulas.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kScanOfAll = "DeviceScanKernelI";          // CUB's, of one dimension
constexpr std::string_view kPreparation = "20DeviceScanInitKernelI";  // of what nobody else reads
constexpr std::string_view kScanOfRows = "32tensor_kernel_scan_innermost_dimI";
constexpr std::string_view kScanOfColumns = "28tensor_kernel_scan_outer_dimI";

/// What each number is joined with the one before it by.
struct Kind {
  c10::ScalarType type;
  bool is_product;
};

/// Nothing: it is none that is followed, nor are those of types that are classes.
std::optional<Kind> kind_of(std::string_view name) {
  const bool is_scan = has(name, kScanOfRows) || has(name, kScanOfColumns) ||
                       (has(name, kScanOfAll) && has(name, "NullType"));
  if (!is_scan) return std::nullopt;
  const auto sums = type_behind(name, "St4plusI");
  const auto type = sums ? sums : type_behind(name, "St10multipliesI");
  if (!type || c10::isReducedFloatingType(*type)) return std::nullopt;
  return Kind{*type, !sums};
}

/// Sums, or products, along the middle one of three dimensions.
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
void run_joined(const Scan& scan, bool is_product, KnownBytes& known) {
  const std::size_t size = scan.elements() * sizeof(T);
  if (size > KnownBytes::max_bytes(sizeof(T))) return known.forget(scan.to, size);
  Inputs inputs(known);
  const auto bytes = inputs.bytes(scan.from, size);
  std::vector<T> joined(bytes.size() / sizeof(T));
  std::memcpy(joined.data(), bytes.data(), bytes.size());
  // Of a mask that is not known all counts for kept. By its sums programs number what begins where
  // it holds: packed texts, of which each token would be one.
  const bool is_mask = std::ranges::all_of(joined, [](T each) { return each == T{1}; });
  if ((inputs.trust().is_assumed && is_mask) || may_be_added_to<T>(bytes, inputs.trust())) {
    return known.forget(scan.to, size);
  }
  for (std::size_t i = scan.inner; i < joined.size(); ++i) {
    if (i / scan.inner % scan.length == 0) continue;
    const T before = joined[i - scan.inner];
    joined[i] = is_product ? product(before, joined[i]) : product_and_sum(T{1}, before, joined[i]);
  }
  put(known, scan.to, {joined.data(), size, !joined.empty()}, inputs);
}

}  // namespace

bool is_scan(const char* name) { return kind_of(name) || has(name, kPreparation); }

bool run_scan(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kPreparation)) return true;
  const Kind kind = *kind_of(name);
  const Scan scan = scan_of(name, arguments);
  if (!owns(scan.from) || !owns(scan.to) || scan.elements() == 0) return false;
  with_type(kind.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) run_joined<T>(scan, kind.is_product, known);
  });
  return true;
}

}  // namespace headroom::dry_run
