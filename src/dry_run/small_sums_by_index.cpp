// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_sums_by_index.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_moves.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

std::optional<c10::ScalarType> type_of_sums(std::string_view name) {
  for (const std::string_view kernel :
       {"24indexing_backward_kernelI", "33indexing_backward_kernel_stride_1I",
        "37indexing_backward_kernel_small_strideI"}) {
    if (const auto type = type_behind(name, kernel)) return type;
  }
  return std::nullopt;
}

/// (sorted indices, which of the slices each comes with, slices, written, int64 how many, elements
/// of a slice, elements from one part that is written to the next, parts, bool adds): each part has
/// all slices.
struct SumsLaunch {
  SumsLaunch(void** arguments, std::size_t width_of_one)
      : indices(at<const char*>(arguments[0])),
        order(at<const char*>(arguments[1])),
        from(at<const char*>(arguments[2])),
        to(at<const char*>(arguments[3])),
        count(at<std::size_t>(arguments[4])),
        slice(at<std::size_t>(arguments[5])),
        part_step(at<std::size_t>(arguments[6])),
        parts(at<std::size_t>(arguments[7])),
        adds(at<bool>(arguments[8])),
        width(width_of_one) {}

  bool is_laid_out(Owns owns) const {
    constexpr std::size_t kMost = std::size_t{1} << 40;
    return owns(indices) && owns(order) && owns(from) && owns(to) && count > 0 && slice > 0 &&
           parts > 0 && count < kMost && slice < kMost && parts < kMost;
  }

  const char* indices;
  const char* order;
  const char* from;
  const char* to;
  std::size_t count;
  std::size_t slice;
  std::size_t part_step;
  std::size_t parts;
  bool adds;
  std::size_t width;
};

/// False: an index is not known.
bool find_moves(const SumsLaunch& launch, std::size_t reach, const KnownBytes& known,
                Moves& moves) {
  constexpr std::size_t kIndex = sizeof(std::int64_t);
  const auto rows = static_cast<std::int64_t>(reach / (launch.slice * launch.width));
  Indices indices(known, launch.indices, launch.count * kIndex, kIndex);
  Indices order(known, launch.order, launch.count * kIndex, kIndex);
  if (!indices.has_any() || !order.has_any()) return false;
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto index = indices.at(i * kIndex, rows);
    const auto slice = order.at(i * kIndex, static_cast<std::int64_t>(launch.count));
    if (!index || !slice) return false;
    for (std::size_t part = 0; part < launch.parts; ++part) {
      const std::size_t to = *index * launch.slice + part * launch.part_step;
      const std::size_t from = (*slice + part * launch.count) * launch.slice;
      for (std::size_t element = 0; element < launch.slice; ++element) {
        moves.list.push_back({(to + element) * launch.width, (from + element) * launch.width});
        if (moves.list.back().to + launch.width > reach) return false;
      }
    }
  }
  moves.trust = indices.trust();
  join(moves.trust, order.trust());
  return true;
}

}  // namespace

bool is_sum_by_index(const char* name) { return type_of_sums(name).has_value(); }

bool run_sum_by_index(const char* name, void** arguments, const LiveBlocks& blocks,
                      KnownBytes& known, Owns owns) {
  const c10::ScalarType type = *type_of_sums(name);
  const SumsLaunch launch(arguments, bytes_of_type(type));
  const auto behind = static_cast<std::size_t>(blocks.behind(launch.to));
  if (!launch.is_laid_out(owns) || behind == 0) return false;
  const std::size_t moved = launch.count * launch.slice * launch.parts;
  Moves moves{.to = launch.to,
              .reach = behind,
              .from = launch.from,
              .from_reach = moved * launch.width,
              .width = launch.width,
              .joining = launch.adds ? Joining::add : Joining::put,
              .type = type};
  if (!are_few(moved, launch.width) || !find_moves(launch, behind, known, moves)) {
    return known.forget(launch.to, behind), true;
  }
  run_moves(moves, known);
  return true;
}

}  // namespace headroom::dry_run
