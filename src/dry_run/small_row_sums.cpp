// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_row_sums.h"

#include <algorithm>
#include <array>
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

/// Up to the type, what a kernel's name says, and how it is told of the rows.
struct RowSumKernel {
  std::string_view mangled;
  bool has_functor;   // else it adds
  bool counts_bytes;  // else elements
  bool has_strides;   // else rows lie one behind the other
};
constexpr std::array kRowSumKernels{
    RowSumKernel{"25vectorized_scatter_kernelI", true, true, true},
    RowSumKernel{"29vectorized_scatter_add_kernelILi16E", false, true, true},
    RowSumKernel{"18tma_scatter_kernelI", true, false, true},
    RowSumKernel{"22tma_scatter_add_kernelI", false, false, false},
};

struct RowSumForm {
  RowSumKernel kernel;
  Joining joining = Joining::add;
  c10::ScalarType type = c10::ScalarType::Undefined;
  std::size_t index_bytes = 8;
};

/// <(functor,) (bytes of a vector,) type, type of indices>.
std::optional<RowSumForm> row_sum_form(std::string_view name) {
  const auto found = std::ranges::find_if(
      kRowSumKernels, [&](const RowSumKernel& one) { return has(name, one.mangled); });
  if (found == kRowSumKernels.end()) return std::nullopt;
  RowSumForm form{.kernel = *found};
  name.remove_prefix(name.find(found->mangled) + found->mangled.size());
  if (found->has_functor) {
    constexpr std::string_view kFunctorEnd = "OpE";
    constexpr std::string_view kVector = "Li16E";
    const std::size_t end = name.find(kFunctorEnd);
    if (end == name.npos) return std::nullopt;
    const auto joining = joining_named(name.substr(0, end + kFunctorEnd.size()));
    if (!joining) return std::nullopt;
    form.joining = *joining;
    name.remove_prefix(end + kFunctorEnd.size());
    if (name.starts_with(kVector)) name.remove_prefix(kVector.size());
  }
  const auto type = take_type(name);
  if (!type || !(name.starts_with('i') || name.starts_with('l'))) return std::nullopt;
  form.type = *type;
  if (name.starts_with('i')) form.index_bytes = 4;
  return form;
}

/// (written, rows, indices, int how many, length of a row, int64 rows that are written, (from row
/// to row of these, of the others,) ...).
struct RowSumLaunch {
  RowSumLaunch(const RowSumForm& form, void** arguments)
      : to(at<const char*>(arguments[0])),
        from(at<const char*>(arguments[1])),
        indices(at<const char*>(arguments[2])),
        count(at<std::uint32_t>(arguments[3])),
        width(bytes_of_type(form.type)),
        length(form.kernel.counts_bytes ? at<std::size_t>(arguments[4])
                                        : at<std::uint32_t>(arguments[4]) * width),
        rows(at<std::int64_t>(arguments[5])) {
    const std::size_t unit = form.kernel.counts_bytes ? 1 : width;
    to_step = form.kernel.has_strides ? at<std::size_t>(arguments[6]) * unit : length;
    from_step = form.kernel.has_strides ? at<std::size_t>(arguments[7]) * unit : length;
  }

  const char* to;
  const char* from;
  const char* indices;
  std::size_t count;
  std::size_t width;
  std::size_t length;  // bytes
  std::int64_t rows;
  std::size_t to_step = 0;
  std::size_t from_step = 0;
};

}  // namespace

bool is_row_sum(const char* name) { return row_sum_form(name).has_value(); }

bool run_row_sum(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const RowSumForm form = *row_sum_form(name);
  const RowSumLaunch launch(form, arguments);
  if (!owns(launch.to) || !owns(launch.from) || !owns(launch.indices) || launch.count == 0 ||
      launch.rows < 1 || launch.length == 0 || launch.length % launch.width != 0) {
    return false;
  }
  Moves moves{
      .to = launch.to,
      .reach = static_cast<std::size_t>(launch.rows - 1) * launch.to_step + launch.length,
      .from = launch.from,
      .from_reach = (launch.count - 1) * launch.from_step + launch.length,
      .width = launch.width,
      .joining = form.joining,
      .type = form.type,
  };
  Indices indices(known, launch.indices, launch.count * form.index_bytes, form.index_bytes);
  if (!are_few(launch.count, launch.length) || !indices.has_any()) {
    return known.forget(moves.to, moves.reach), true;
  }
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto row = indices.at(i * form.index_bytes, launch.rows);
    if (!row) return known.forget(moves.to, moves.reach), true;
    for (std::size_t place = 0; place < launch.length; place += launch.width) {
      moves.list.push_back({*row * launch.to_step + place, i * launch.from_step + place});
    }
  }
  moves.trust = indices.trust();
  run_moves(moves, known);
  return true;
}

}  // namespace headroom::dry_run
