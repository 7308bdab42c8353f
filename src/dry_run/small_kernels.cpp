// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_kernels.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/small_arithmetic.h"
#include "src/dry_run/small_counts.h"
#include "src/dry_run/small_extremes.h"
#include "src/dry_run/small_flip.h"
#include "src/dry_run/small_index.h"
#include "src/dry_run/small_join.h"
#include "src/dry_run/small_largest.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_lists.h"
#include "src/dry_run/small_logic.h"
#include "src/dry_run/small_masked.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_radix.h"
#include "src/dry_run/small_random.h"
#include "src/dry_run/small_ranges.h"
#include "src/dry_run/small_reductions.h"
#include "src/dry_run/small_repeats.h"
#include "src/dry_run/small_resize.h"
#include "src/dry_run/small_row_sums.h"
#include "src/dry_run/small_scans.h"
#include "src/dry_run/small_scatter.h"
#include "src/dry_run/small_searches.h"
#include "src/dry_run/small_select.h"
#include "src/dry_run/small_shares.h"
#include "src/dry_run/small_sort.h"
#include "src/dry_run/small_sums_by_index.h"
#include "src/dry_run/small_triangles.h"
#include "src/dry_run/small_uniques.h"

namespace headroom::dry_run {
namespace {

/// What is written, of elements of an unknown type: no more than there is of the tensor.
std::size_t most_bytes(std::size_t elements, const void* to, const LiveBlocks& blocks) {
  constexpr std::size_t kWidest = 16;  // a complex number in doubles
  const auto behind = static_cast<std::size_t>(blocks.behind(to));
  return behind == 0 ? elements * kWidest : std::min(elements * kWidest, behind);
}

/// {value}, of so many bytes.
void fill(const Elementwise& launch, std::size_t width, KnownBytes& known) {
  const std::size_t size = launch.count * width;
  if (size > KnownBytes::kMaxBytes) return known.forget(launch.pointer(0), size);
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<const unsigned char*>(launch.functor)[i % width];
  }
  known.set(launch.pointer(0), bytes.data(), size);
}

/// Whether two bools are true. Of one pair that is taken for true where it is not known.
void both(const Elementwise& launch, KnownBytes& known) {
  Inputs inputs(known);
  auto one = inputs.bytes(launch.pointer(1), launch.count);
  const auto other = inputs.bytes(launch.pointer(2), launch.count);
  if (!one.empty() && !other.empty()) {
    std::ranges::transform(one, other, one.begin(), [](auto left, auto right) {
      return static_cast<unsigned char>(left != 0 && right != 0 ? 1 : 0);
    });
    return put(known, launch.pointer(0), {one.data(), launch.count, true}, inputs);
  }
  if (launch.count != 1) return known.forget(launch.pointer(0), launch.count);
  const auto is_false = [](const auto& bytes) { return !bytes.empty() && bytes[0] == 0; };
  known.fill(launch.pointer(0), is_false(one) || is_false(other) ? 0 : 1, 1, kAssumed);
}

std::optional<c10::ScalarType> fill_type(const char* name) {
  return type_behind(name, "11FillFunctorI");
}

constexpr std::string_view kWithNumber = "13AUnaryFunctorI";

/// Of numbers that are compared with each other, or with one number; nothing: it is no such kernel.
std::optional<c10::ScalarType> equal_type(std::string_view name) {
  if (!has(name, "16CompareEqFunctorI")) return std::nullopt;
  const auto type = type_behind(name, "13BinaryFunctorI");
  return type ? type : type_behind(name, kWithNumber);
}

/// The number that the functor of a comparison holds.
template <class T>
T held_number(const void* functor) {
  return at<T>(functor, std::max(sizeof(T), sizeof(int)));
}

/// Whether numbers that are not known are taken for equal: each to itself, none to infinity, and a
/// single one to none. Programs ask so whether a loss is finite, and ATen whether weights sum up to
/// 0. Nothing: they ask something else.
std::optional<bool> is_equal_by_itself(const Elementwise& launch, bool is_with_number,
                                       c10::ScalarType type) {
  if (!is_with_number) {
    return launch.pointer(1) == launch.pointer(2) ? std::optional(true) : std::nullopt;
  }
  bool is_infinity = false;
  with_type(type, [&](auto zero) {
    is_infinity = std::isinf(static_cast<double>(held_number<decltype(zero)>(launch.functor)));
  });
  const bool is_single = launch.count == 1 && type != c10::ScalarType::Bool;
  return is_infinity || is_single ? std::optional(false) : std::nullopt;
}

/// Whether a bool that nobody computed is the known one that torch.equal compares it with: as if it
/// were false, since ATen asks so whether it has found an error. Nothing: it asks something else.
std::optional<bool> is_equal_as_false(const Elementwise& launch, c10::ScalarType type,
                                      const std::vector<unsigned char>& known) {
  if (launch.count != 1 || type != c10::ScalarType::Bool || known.empty()) return std::nullopt;
  return known[0] == 0;
}

/// {0: ==, 1: !=} of two tensors, or {the same, number} of a tensor and a number: a bool for each
/// element.
void compare_equal(const Elementwise& launch, std::string_view name, KnownBytes& known) {
  const bool is_with_number = has(name, kWithNumber);
  const bool differs = at<int>(launch.functor) == 1;
  const c10::ScalarType type = *equal_type(name);
  const std::size_t width = bytes_of_type(type);
  Inputs inputs(known);
  const auto self = inputs.bytes(launch.pointer(1), launch.count * width);
  const auto other = is_with_number ? self : inputs.bytes(launch.pointer(2), launch.count * width);
  if (self.empty() || other.empty()) {
    if (const auto limit = known.limit(launch.pointer(1)); limit && is_with_number) {
      return put_matches(known, launch.pointer(0), launch.count, *limit, differs);
    }
    auto is_equal = is_equal_as_false(launch, type, self.empty() ? other : self);
    if (!is_equal) is_equal = is_equal_by_itself(launch, is_with_number, type);
    if (!is_equal) return known.forget(launch.pointer(0), launch.count);
    return known.fill(launch.pointer(0), *is_equal != differs ? 1 : 0, launch.count, kAssumed);
  }
  std::vector<unsigned char> result;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < launch.count; ++i) {
      const T right =
          is_with_number ? held_number<T>(launch.functor) : at<T>(other.data(), i * width);
      const bool is_equal = at<T>(self.data(), i * width) == right;
      result.push_back(is_equal != differs ? 1 : 0);
    }
  });
  put(known, launch.pointer(0), {result.data(), launch.count, true}, inputs);
}

bool run_elementwise(SmallKernel kernel, const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  const Elementwise elements(launch.arguments);
  const void* to = elements.pointer(0);
  if (!owns(to)) return false;
  if (kernel == SmallKernel::logic) {
    run_logic(launch.name, launch.arguments, known);
  } else if (kernel == SmallKernel::both) {
    both(elements, known);
  } else if (kernel == SmallKernel::fill) {
    fill(elements, bytes_of_type(*fill_type(launch.name)), known);
  } else if (kernel == SmallKernel::equal) {
    compare_equal(elements, launch.name, known);
  } else if (!run_arithmetic(launch.name, launch.arguments, known, owns)) {
    known.forget(to, most_bytes(elements.count, to, launch.blocks));
  }
  return true;
}

/// Or only what no one reads but the kernel that follows it.
bool writes_nothing(const char* name) {
  if (has(name, "6mbtopk")) return !has(name, "10gatherTopKI");
  return has(name, "_assert_async_cuda_kernel") || has(name, "masked_scatter_size_check");
}

/// Of the others no name need be searched for a copy's.
bool may_copy(SmallKernel kernel) {
  return kernel == SmallKernel::elementwise || kernel == SmallKernel::strided;
}

}  // namespace

SmallKernel small_kernel(const char* name) {
  if (is_range(name)) return SmallKernel::range;
  if (is_count(name)) return SmallKernel::count;
  if (is_flip(name)) return SmallKernel::flip;
  if (is_scan(name)) return SmallKernel::scan;
  if (is_unique(name)) return SmallKernel::unique;
  if (is_index(name)) return SmallKernel::index;
  if (is_scatter(name)) return SmallKernel::scatter;
  if (is_select(name)) return SmallKernel::select;
  if (is_row_sum(name)) return SmallKernel::row_sum;
  if (writes_nothing(name)) return SmallKernel::none;
  if (is_masked_scatter(name)) return SmallKernel::masked_scatter;
  if (is_sum_by_index(name)) return SmallKernel::sum_by_index;
  if (is_sort_in_place(name)) return SmallKernel::sort;
  if (is_radix_sort(name)) return SmallKernel::radix_sort;
  if (is_largest(name)) return SmallKernel::largest;
  if (is_extreme(name)) return SmallKernel::extreme;
  if (is_share(name)) return SmallKernel::share;
  if (is_random(name)) return SmallKernel::random;
  if (is_repeat(name)) return SmallKernel::repeat;
  if (!std::string_view(name).starts_with("_ZN2at6native")) return SmallKernel::other;
  // The second takes what lies at no multiple of a vector, and what it converts as it reads.
  const bool is_unrolled =
      has(name, "27unrolled_elementwise_kernelI") && has(name, "TrivialOffsetCalculator");
  if (has(name, "29vectorized_elementwise_kernelI") || is_unrolled) {
    if (is_logic(name)) return SmallKernel::logic;
    if (has(name, "LoadWithCast")) return SmallKernel::elementwise;
    if (has(name, "13BinaryFunctorIbbbNS0_17BitwiseAndFunctorIbEE")) return SmallKernel::both;
    if (fill_type(name)) return SmallKernel::fill;
    if (equal_type(name)) return SmallKernel::equal;
    return SmallKernel::elementwise;
  }
  if (has(name, "18elementwise_kernelI")) return SmallKernel::strided;
  if (is_reduction(name)) return is_of_all(name) ? SmallKernel::all : SmallKernel::reduction;
  if (is_triangle(name)) return SmallKernel::triangle;
  if (is_search(name)) return SmallKernel::search;
  if (is_resize(name)) return SmallKernel::resize;
  if (is_join(name)) return SmallKernel::join;
  if (adds_to_lists(name)) return SmallKernel::lists;
  return SmallKernel::other;
}

bool run_small_kernel(SmallKernel kernel, const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  if (may_copy(kernel) && run_copy_of_share(launch, known, owns)) return true;
  switch (kernel) {
    case SmallKernel::elementwise:
    case SmallKernel::fill:
    case SmallKernel::equal:
    case SmallKernel::logic:
    case SmallKernel::both:
      return run_elementwise(kernel, launch, known, owns);
    case SmallKernel::strided:
      return run_arithmetic(launch.name, launch.arguments, known, owns);
    case SmallKernel::reduction:
    case SmallKernel::all:
      return run_reduction(launch.name, launch.arguments[0], known, owns);
    case SmallKernel::join:
      return run_join(launch.name, launch.arguments, launch.grid_y, known, owns);
    case SmallKernel::lists:
      return run_add_to_lists(launch.arguments, launch.grid_x, known, owns);
    case SmallKernel::triangle:
      return run_triangle(launch.name, launch.arguments, launch.blocks, known, owns);
    case SmallKernel::random:
      return run_random(launch.name, launch.arguments,
                        std::uint64_t{launch.grid_x} * launch.block_x, known, owns);
    case SmallKernel::repeat:
      return run_repeat(launch.name, launch.arguments, known, owns);
    case SmallKernel::resize:
      return run_resize(launch.name, launch.arguments, known, owns);
    case SmallKernel::search:
      return run_search(launch.name, launch.arguments, known, owns);
    case SmallKernel::count:
      return run_count(launch.name, launch.arguments, launch.grid_x, known, owns);
    case SmallKernel::flip:
      return run_flip(launch.name, launch.arguments, known, owns);
    case SmallKernel::scan:
      return run_scan(launch.name, launch.arguments, known, owns);
    case SmallKernel::unique:
      return run_unique(launch.name, launch.arguments, known, owns);
    case SmallKernel::index:
      return run_index(launch.name, launch.arguments, known, owns);
    case SmallKernel::scatter:
      return run_scatter(launch.name, launch.arguments, known, owns);
    case SmallKernel::row_sum:
      return run_row_sum(launch.name, launch.arguments, known, owns);
    case SmallKernel::select:
      return run_select(launch.name, launch.arguments, known, owns);
    case SmallKernel::none:
      return true;
    case SmallKernel::masked_scatter:
      return run_masked_scatter(launch.name, launch.arguments, known, owns);
    case SmallKernel::sum_by_index:
      return run_sum_by_index(launch.name, launch.arguments, known, launch.blocks, owns);
    case SmallKernel::sort:
      return run_sort_in_place(launch.name, launch.arguments, known, owns);
    case SmallKernel::radix_sort:
      return run_radix_sort(launch.name, launch.arguments, known, owns);
    case SmallKernel::largest:
      return run_largest(launch.name, launch.arguments, known, owns);
    case SmallKernel::extreme:
      return run_extreme(launch.name, launch.arguments[0], known, owns);
    case SmallKernel::share:
      return run_share(launch.name, launch.arguments, known, owns);
    case SmallKernel::range:
      return run_range(launch.name, launch.arguments, known, owns);
    case SmallKernel::other:
      break;
  }
  return false;
}

}  // namespace headroom::dry_run
