// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_scatter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_moves.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_shares.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kGather = "36_cuda_scatter_gather_internal_kernelILb0E";
constexpr std::string_view kScatterOfTensor = "36_cuda_scatter_gather_internal_kernelILb1E";
constexpr std::string_view kScatterOfNumber = "34_cuda_scatter_fill_internal_kernelI";

/// What a name says behind one of these: <..., type or OpaqueType<bytes>, type of indices>, of
/// which PyTorch has the last since 2.10, and the functor.
struct ScatterForm {
  bool gathers = false;
  bool is_of_number = false;
  std::size_t width = 0;
  std::size_t index_bytes = 8;
  Joining joining = Joining::put;
  c10::ScalarType type = c10::ScalarType::Undefined;
};

std::optional<ScatterForm> scatter_form(std::string_view name) {
  ScatterForm form{.gathers = has(name, kGather), .is_of_number = has(name, kScatterOfNumber)};
  const std::string_view begin = form.gathers        ? kGather
                                 : form.is_of_number ? kScatterOfNumber
                                                     : kScatterOfTensor;
  const std::size_t place = name.find(begin);
  const auto joining = joining_named(name);
  if (place == std::string_view::npos || !joining) return std::nullopt;
  name.remove_prefix(place + begin.size());
  const std::string_view types = name.substr(0, name.find("EclI"));
  form.joining = *joining;
  form.width = opaque_bytes(types);
  if (form.width == 0) {
    const auto type = type_named(types);
    if (!type) return std::nullopt;
    form.type = *type;
    form.width = bytes_of_type(*type);
  } else if (form.joining != Joining::put) {
    return std::nullopt;
  }
  if (types.size() > 1 && types.back() == 'i') form.index_bytes = 4;
  return form;
}

/// _scatter_gather_elementwise_kernel(int count, {where what is written, what is read (where there
/// is no number) and the indices lie; indices, elements along the dimension, a functor, what is
/// written, stride, elements of it, what is read or the number}), the stride in elements.
struct ScatterLaunch {
  ScatterLaunch(void** arguments, std::size_t tensors)
      : count(static_cast<std::size_t>(at<int>(arguments[0]))),
        places(arguments[1], tensors),
        rest(static_cast<const char*>(arguments[1]) +
             whole_parts(Offsets::bytes(tensors), alignof(void*))) {}

  template <class T>
  T word(std::size_t index) const {
    return at<T>(rest, index * sizeof(void*));
  }
  bool is_laid_out(Owns owns) const {
    return count > 0 && places.is_laid_out() && owns(word<const void*>(0)) && size() > 0 &&
           owns(word<const void*>(3));
  }
  std::int64_t size() const { return word<std::int64_t>(1); }

  std::size_t count;
  Offsets places;
  const char* rest;
};

constexpr std::size_t kScatterTo = 3;
constexpr std::size_t kScatterStride = 4;
constexpr std::size_t kScatterFrom = 6;

}  // namespace

bool is_scatter(const char* name) {
  return has(name, "34_scatter_gather_elementwise_kernelI") && scatter_form(name).has_value();
}

bool run_scatter(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const ScatterForm form = *scatter_form(name);
  const std::size_t tensors = form.is_of_number ? 2 : 3;
  const ScatterLaunch launch(arguments, tensors);
  if (!launch.is_laid_out(owns)) return false;
  const auto* from = form.is_of_number ? nullptr : launch.word<const char*>(kScatterFrom);
  if (!form.is_of_number && !owns(from)) return false;
  const std::size_t stride = launch.word<std::size_t>(kScatterStride) * form.width;
  const std::size_t last = static_cast<std::size_t>(launch.size() - 1) * stride;
  Moves moves{.to = launch.word<const char*>(kScatterTo),
              .reach = launch.places.last(0) + form.width + (form.gathers ? 0 : last),
              .from = from,
              .from_reach = from == nullptr ? 0
                                            : launch.places.last(1) + form.width +
                                                  (form.gathers ? last : std::size_t{0}),
              .width = form.width,
              .joining = form.joining,
              .type = form.type,
              .number = form.is_of_number ? launch.rest + kScatterFrom * sizeof(void*) : nullptr};
  Indices indices(known, launch.word<const char*>(0),
                  launch.places.last(tensors - 1) + form.index_bytes, form.index_bytes);
  const auto forget = [&] {
    if (is_share(name)) return run_share(name, arguments, known, owns);
    known.forget(moves.to, moves.reach);
    return true;
  };
  const bool is_large =
      moves.reach > KnownBytes::max_bytes(form.width) || !are_few(launch.count, form.width);
  if (is_large || !indices.has_any()) return forget();
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto index = indices.at(launch.places.of(i, tensors - 1), launch.size());
    if (!index && !form.gathers) return forget();
    Move move{launch.places.of(i, 0), form.is_of_number ? 0 : launch.places.of(i, 1)};
    if (!form.gathers) {
      move.to += *index * stride;
    } else {
      move.from = index ? std::optional(*move.from + *index * stride) : std::nullopt;
    }
    moves.list.push_back(move);
  }
  moves.trust = indices.trust();
  run_moves(moves, known);
  return true;
}

}  // namespace headroom::dry_run
