// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_kernels.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
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
#include "src/dry_run/small_losses.h"
#include "src/dry_run/small_masked.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_radix.h"
#include "src/dry_run/small_random.h"
#include "src/dry_run/small_ranges.h"
#include "src/dry_run/small_reductions.h"
#include "src/dry_run/small_repeats.h"
#include "src/dry_run/small_resize.h"
#include "src/dry_run/small_row_sums.h"
#include "src/dry_run/small_rows.h"
#include "src/dry_run/small_scans.h"
#include "src/dry_run/small_scatter.h"
#include "src/dry_run/small_searches.h"
#include "src/dry_run/small_select.h"
#include "src/dry_run/small_shares.h"
#include "src/dry_run/small_softmax.h"
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

std::optional<c10::ScalarType> fill_type(const char* name) {
  return type_behind(name, "11FillFunctorI");
}

/// {value}.
bool fill(const SmallLaunch& of, KnownBytes& known, Owns owns) {
  const Elementwise launch(of.arguments);
  const void* const to = launch.pointer(0);
  if (!owns(to)) return false;
  const std::size_t width = bytes_of_type(*fill_type(of.name));
  const std::size_t size = launch.count * width;
  if (size > KnownBytes::max_bytes(width)) return known.forget(to, size), true;
  const auto* value = static_cast<const unsigned char*>(launch.functor);
  KnownBytes::Bytes bytes(size, *value);
  if (width > 1) {
    std::memcpy(bytes.data(), value, std::min(width, size));
    for (std::size_t done = width; done < size; done *= 2) {
      std::memcpy(&bytes[done], bytes.data(), std::min(done, size - done));
    }
  }
  known.set(to, std::move(bytes));
  return true;
}

/// Of what is not followed the result is not known.
bool run_elements(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  if (run_copy_of_share(launch, known, owns)) return true;
  const Elementwise elements(launch.arguments);
  const void* const to = elements.pointer(0);
  if (!owns(to)) return false;
  if (!run_arithmetic(launch.name, launch.arguments, known, owns)) {
    known.forget(to, most_bytes(elements.count, to, launch.blocks));
  }
  return true;
}

bool run_elements_apart(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  return run_copy_of_share(launch, known, owns) ||
         run_arithmetic(launch.name, launch.arguments, known, owns);
}

SmallKernel elementwise_kernel(const char* name) {
  if (has(name, "LoadWithCast")) return {&run_elements};
  if (has(name, "13BinaryFunctorIbbbNS0_17BitwiseAndFunctorIbEE")) {
    return {&run_elements, /*is_check=*/true};
  }
  if (fill_type(name)) return {&fill};
  return {&run_elements};
}

/// It only checks or prepares something, of which no one reads but the kernel that follows it.
bool writes_nothing(const char* name) {
  if (has(name, "6mbtopk")) return !has(name, "10gatherTopKI");
  return has(name, "_assert_async_cuda_kernel") || has(name, "masked_scatter_size_check");
}

template <bool (*run)(const char* name, void** arguments, KnownBytes& known, Owns owns)>
bool by_name(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  return run(launch.name, launch.arguments, known, owns);
}
/// Of those that have one argument.
template <bool (*run)(const char* name, const void* operation, KnownBytes& known, Owns owns)>
bool by_operation(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  return run(launch.name, launch.arguments[0], known, owns);
}
/// Of those that may write more than they know.
template <bool (*run)(const char* name, void** arguments, const LiveBlocks& blocks,
                      KnownBytes& known, Owns owns)>
bool by_blocks(const SmallLaunch& launch, KnownBytes& known, Owns owns) {
  return run(launch.name, launch.arguments, launch.blocks, known, owns);
}

struct Kind {
  bool (*is)(const char* name);
  SmallKernel::Run run;
};

/// Where two know a name, the first is asked.
constexpr std::array kKinds{
    Kind{&is_range, &by_name<run_range>},
    Kind{&is_count,
         [](const SmallLaunch& launch, KnownBytes& known, Owns owns) {
           return run_count(launch.name, launch.arguments, launch.grid_x, known, owns);
         }},
    Kind{&is_flip, &by_name<run_flip>},
    Kind{&is_scan, &by_name<run_scan>},
    Kind{&is_unique, &by_name<run_unique>},
    Kind{&is_index, &by_name<run_index>},
    Kind{&is_scatter, &by_name<run_scatter>},
    Kind{&is_select, &by_name<run_select>},
    Kind{&is_row_sum, &by_name<run_row_sum>},
    Kind{&writes_nothing, [](const SmallLaunch&, KnownBytes&, Owns) { return true; }},
    Kind{&is_masked_scatter, &by_name<run_masked_scatter>},
    Kind{&is_sum_by_index, &by_blocks<run_sum_by_index>},
    Kind{&is_sort_in_place, &by_name<run_sort_in_place>},
    Kind{&is_radix_sort, &by_name<run_radix_sort>},
    Kind{&is_largest, &by_name<run_largest>},
    Kind{&is_extreme, &by_operation<run_extreme>},
    Kind{&is_share, &by_name<run_share>},
    Kind{&is_random,
         [](const SmallLaunch& launch, KnownBytes& known, Owns owns) {
           const std::uint64_t threads = std::uint64_t{launch.grid_x} * launch.block_x;
           return run_random(launch.name, launch.arguments, threads, known, owns);
         }},
    Kind{&is_softmax, &by_name<run_softmax>},
    Kind{&is_loss, &by_name<run_loss>},
    Kind{&is_of_rows, &by_name<run_of_rows>},
    Kind{&is_repeat, &by_name<run_repeat>},
    Kind{&is_reduction, &by_operation<run_reduction>},
    Kind{&is_triangle, &by_blocks<run_triangle>},
    Kind{&is_search, &by_name<run_search>},
    Kind{&is_resize, &by_name<run_resize>},
    Kind{&is_join,
         [](const SmallLaunch& launch, KnownBytes& known, Owns owns) {
           return run_join(launch.name, launch.arguments, launch.grid_y, known, owns);
         }},
    Kind{&adds_to_lists,
         [](const SmallLaunch& launch, KnownBytes& known, Owns owns) {
           return run_add_to_lists(launch.arguments, launch.grid_x, known, owns);
         }},
};

}  // namespace

SmallKernel small_kernel(const char* name) {
  for (const Kind& kind : kKinds) {
    if (kind.is(name)) return {kind.run, is_of_all(name)};
  }
  if (!std::string_view(name).starts_with("_ZN2at6native")) return {};
  // The second takes what lies at no multiple of a vector, and what it converts as it reads.
  const bool is_unrolled =
      has(name, "27unrolled_elementwise_kernelI") && has(name, "TrivialOffsetCalculator");
  if (has(name, "29vectorized_elementwise_kernelI") || is_unrolled) return elementwise_kernel(name);
  return has(name, "18elementwise_kernelI") ? SmallKernel{&run_elements_apart} : SmallKernel{};
}

}  // namespace headroom::dry_run
