// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_extremes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_reduce.h"

namespace headroom::dry_run {
namespace {

/// ReduceOp<type, operations<type that it is compared as>, ...>.
struct ExtremeForm {
  c10::ScalarType type = c10::ScalarType::Undefined;
  bool is_largest = false;
  bool has_values = false;  // beside the places, and before these
};

std::optional<ExtremeForm> extreme_form(std::string_view name) {
  const bool is_argmax = has(name, "9ArgMaxOpsI");
  const bool is_argmin = has(name, "9ArgMinOpsI");
  const bool is_max = has(name, "NS0_6MaxOpsI");
  const bool is_min = has(name, "NS0_6MinOpsI");
  const auto type = type_behind(name, "8ReduceOpI");
  // Tensors of 2^31 elements and more are reduced in parts.
  if (!type || !has(name, "13reduce_kernelI") || !has(name, "EEj")) return std::nullopt;
  if (!is_argmax && !is_argmin && !is_max && !is_min) return std::nullopt;
  return ExtremeForm{*type, is_argmax || is_max, is_max || is_min};
}

/// Whether another element takes the place of what was found before it: what is no number wins.
template <class T>
bool wins(T other, T found, bool is_largest) {
  if (found != found) return false;
  if (other != other) return true;
  return is_largest ? other > found : other < found;
}

struct FoundExtreme {
  std::size_t input;
  std::size_t place;  // in bytes
};

/// Of one result; nothing: some of its inputs are not known.
template <class T>
std::optional<FoundExtreme> extreme_of_result(const Reduce& reduce, std::size_t result,
                                              bool is_largest, Elements& inputs) {
  FoundExtreme found{};
  T best{};
  for (std::size_t i = 0; i < reduce.inputs_of_one(); ++i) {
    const std::size_t place = reduce.place_of_input(result, i);
    const unsigned char* const value = inputs.at(place, sizeof(T));
    if (value == nullptr) return std::nullopt;
    if (i > 0 && !wins(at<T>(value), best, is_largest)) continue;
    best = at<T>(value);
    found = {i, place};
  }
  return found;
}

constexpr std::size_t kPlace = sizeof(std::int64_t);

/// With each element its place is kept, behind a functor that holds nothing.
Reduce::Form form_with_places(const ExtremeForm& form) {
  const std::size_t width = bytes_of_type(form.type);
  constexpr std::size_t kPair = 2 * kPlace;
  return {width, kPair, form.has_values ? width : kPlace, kPlace + kPair};
}

template <class T>
void run_results(const ExtremeForm& form, const Reduce& reduce, KnownBytes& known) {
  const std::size_t width = reduce.width_of_result;
  const std::size_t reach = reduce.reach_of_results();
  Elements inputs(known, static_cast<const char*>(reduce.from()), reduce.reach());
  const auto* to = static_cast<const char*>(reduce.to());
  Writes values(to, form.has_values ? reach : 0);
  Writes places(form.has_values ? static_cast<const char*>(reduce.also_to()) : to,
                reach / width * kPlace);
  const bool is_filled = inputs.may_be_added_to<T>();
  for (std::size_t result = 0; result < reduce.results_in_all(); ++result) {
    const std::size_t place = reduce.place_of_result(result);
    const std::size_t place_of_place = place / width * kPlace;
    const auto found =
        is_filled ? std::nullopt : extreme_of_result<T>(reduce, result, form.is_largest, inputs);
    if (!found) {
      if (form.has_values) values.forget(place, width);
      places.forget(place_of_place, kPlace);
      continue;
    }
    const auto input = static_cast<std::int64_t>(found->input);
    places.put(place_of_place, &input, kPlace);
    if (form.has_values) values.put(place, inputs.at(found->place, sizeof(T)), width);
  }
  if (form.has_values) values.tell(known, inputs.trust());
  places.tell(known, inputs.trust());
}

}  // namespace

bool is_extreme(const char* name) { return extreme_form(name).has_value(); }

bool run_extreme(const char* name, const void* operation, KnownBytes& known, Owns owns) {
  const ExtremeForm form = *extreme_form(name);
  const Reduce reduce(operation, form_with_places(form));
  if (!reduce.is_laid_out() || !owns(reduce.from()) || !owns(reduce.to()) ||
      !reduce.writes_once() || (form.has_values && !owns(reduce.also_to()))) {
    return false;
  }
  const std::size_t reach = reduce.reach_of_results();
  const std::size_t reach_of_places = reach / reduce.width_of_result * kPlace;
  const bool is_small = reach_of_places <= KnownBytes::kMaxBytes &&
                        reduce.inputs_of_one() <= KnownBytes::kMaxBytes / reduce.results_in_all() &&
                        known.has_any(reduce.from(), reduce.reach());
  if (!is_small) {
    known.forget(reduce.to(), reach);
    if (form.has_values) known.forget(reduce.also_to(), reach_of_places);
    return true;
  }
  with_type(form.type, [&](auto zero) { run_results<decltype(zero)>(form, reduce, known); });
  return true;
}

}  // namespace headroom::dry_run
