// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_select.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_moves.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_tensor_info.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kSelectRows = "24vectorized_gather_kernelI";

/// What a kernel's name says: <type, type of indices, unsigned, ...>.
struct SelectForm {
  bool adds = false;      // or joins in another way; else it reads
  bool is_large = false;  // which has two sizes
  c10::ScalarType type = c10::ScalarType::Undefined;
  std::size_t index_bytes = 8;
  Joining joining = Joining::put;
};

struct SelectKernel {
  std::string_view mangled;
  bool adds;
  bool is_large;
};
constexpr SelectKernel kSelectKernels[] = {
    {"21indexSelectSmallIndexI", false, false},
    {"21indexSelectLargeIndexI", false, true},
    {"19indexFuncSmallIndexI", true, false},
    {"19indexFuncLargeIndexI", true, true},
};

std::optional<SelectForm> select_form(std::string_view name) {
  for (const SelectKernel& kernel : kSelectKernels) {
    const std::size_t place = name.find(kernel.mangled);
    if (place == std::string_view::npos) continue;
    std::string_view types = name.substr(place + kernel.mangled.size());
    const auto type = take_type(types);
    const auto index = take_type(types);
    const auto joining = kernel.adds ? joining_named(types) : Joining::put;
    // Tensors of 2^31 elements and more have sizes of 8 bytes.
    if (!type || !index || !joining || !types.starts_with('j')) return std::nullopt;
    if (*index != c10::ScalarType::Int && *index != c10::ScalarType::Long) return std::nullopt;
    return SelectForm{kernel.adds, kernel.is_large, *type, bytes_of_type(*index), *joining};
  }
  return std::nullopt;
}

/// (written, read, indices, int dimension of what is written, of what is read, unsigned (elements
/// in all,) elements of a slice, ..., int64 size of the dimension, (elements that are written,
/// functor, factor)). Both have a size of 1 along that dimension, and index_select() looks up what
/// it reads, the others what they write.
struct SelectLaunch {
  SelectLaunch(const SelectForm& launched, void** arguments)
      : form(launched),
        to(arguments[0]),
        from(arguments[1]),
        indices(arguments[2]),
        to_dimension(at<std::uint32_t>(arguments[3])),
        from_dimension(at<std::uint32_t>(arguments[4])),
        size(at<std::int64_t>(arguments[form.is_large ? 7 : 6])),
        factor(form.adds ? arguments[form.is_large ? 10 : 9] : nullptr) {}

  bool is_laid_out(Owns owns) const {
    return to.is_laid_out() && from.is_laid_out() && indices.is_laid_out() &&
           to_dimension < to.dimensions() && from_dimension < from.dimensions() && size > 0 &&
           to.size(to_dimension) == 1 && from.size(from_dimension) == 1 && owns(to.data()) &&
           owns(from.data()) && owns(indices.data());
  }

  SelectForm form;
  TensorInfo to;
  TensorInfo from;
  TensorInfo indices;
  std::size_t to_dimension;
  std::size_t from_dimension;
  std::int64_t size;
  const void* factor;
};

bool run_slices(const SelectForm& form, void** arguments, KnownBytes& known, Owns owns) {
  const SelectLaunch launch(form, arguments);
  if (!launch.is_laid_out(owns)) return false;
  const std::size_t width = bytes_of_type(form.type);
  const std::size_t count = launch.indices.elements();
  const std::size_t slice = launch.to.elements();
  const std::size_t to_step = launch.to.stride(launch.to_dimension) * width;
  const std::size_t from_step = launch.from.stride(launch.from_dimension) * width;
  const auto size = static_cast<std::size_t>(launch.size);
  Moves moves{
      .to = launch.to.data(),
      .reach = launch.to.reach() * width + ((form.adds ? size : count) - 1) * to_step,
      .from = launch.from.data(),
      .from_reach = launch.from.reach() * width + ((form.adds ? count : size) - 1) * from_step,
      .width = width,
      .joining = form.joining,
      .type = form.type,
      .factor = launch.factor};
  Indices indices(known, launch.indices.data(), launch.indices.reach() * form.index_bytes,
                  form.index_bytes);
  if (!are_few(count * slice, width) || !indices.has_any()) {
    return known.forget(moves.to, moves.reach), true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = indices.at(launch.indices.of(i) * form.index_bytes, launch.size);
    if (form.adds && !index) return known.forget(moves.to, moves.reach), true;
    for (std::size_t element = 0; element < slice; ++element) {
      Move move{launch.to.of(element) * width + (form.adds ? *index : i) * to_step,
                launch.from.of(element) * width + (form.adds ? i * from_step : std::size_t{0})};
      if (!form.adds) move.from = index ? std::optional(*move.from + *index * from_step) : index;
      moves.list.push_back(move);
    }
  }
  moves.trust = indices.trust();
  run_moves(moves, known);
  return true;
}

/// (written, read, indices, int count, bytes of a row, rows, bytes from row to row of what is read,
/// of what is written, bool may be below 0).
bool run_rows(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const auto* to = at<const char*>(arguments[0]);
  const auto* from = at<const char*>(arguments[1]);
  const auto* chosen = at<const char*>(arguments[2]);
  const auto count = at<std::uint32_t>(arguments[3]);
  const auto width = at<std::size_t>(arguments[4]);
  const auto rows = at<std::int64_t>(arguments[5]);
  const auto from_step = at<std::size_t>(arguments[6]);
  const auto to_step = at<std::size_t>(arguments[7]);
  const std::size_t index_bytes = has(name, "EiEEv") ? 4 : 8;
  if (!owns(to) || !owns(from) || !owns(chosen) || count == 0 || width == 0 || rows < 1) {
    return false;
  }
  Moves moves{.to = to,
              .reach = (count - 1) * to_step + width,
              .from = from,
              .from_reach = static_cast<std::size_t>(rows - 1) * from_step + width,
              .width = width};
  Indices indices(known, chosen, count * index_bytes, index_bytes);
  if (!are_few(count, width) || !indices.has_any()) {
    return known.forget(moves.to, moves.reach), true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = indices.at(i * index_bytes, rows);
    moves.list.push_back({i * to_step, index ? std::optional(*index * from_step) : index});
  }
  moves.trust = indices.trust();
  run_moves(moves, known);
  return true;
}

}  // namespace

bool is_select(const char* name) { return has(name, kSelectRows) || select_form(name).has_value(); }

bool run_select(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kSelectRows)) return run_rows(name, arguments, known, owns);
  return run_slices(*select_form(name), arguments, known, owns);
}

}  // namespace headroom::dry_run
