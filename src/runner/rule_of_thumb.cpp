// SPDX-License-Identifier: Apache-2.0
#include "src/runner/rule_of_thumb.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "src/core/json.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

using Bytes = std::optional<std::int64_t>;

struct NamedBytes {
  std::string_view name;
  std::int64_t bytes;  // for each parameter
};

constexpr std::array kWeights = {NamedBytes{"float32", 4}, NamedBytes{"mixed_float16", 6},
                                 NamedBytes{"mixed_bfloat16", 6}};
constexpr std::int64_t kGradients = 4;
constexpr std::array kState = {NamedBytes{"adam", 8}, NamedBytes{"adamw", 8},
                               NamedBytes{"adam_8bit", 2}, NamedBytes{"sgd", 4}};
constexpr std::int64_t kAllOfAdam = 16;
constexpr std::int64_t kRest = 2'000'000'000;

Bytes find(std::span<const NamedBytes> table, const std::string& name) {
  const auto found = std::ranges::find(table, name, &NamedBytes::name);
  return found == table.end() ? Bytes() : found->bytes;
}

/// That of SGD, which the technique `sgd` puts in the place of the case's own optimizer.
double momentum_of(const Case& one) {
  for (const auto& technique : one.techniques) {
    if (text_in(technique, "name") == "sgd") return number_in(technique, "momentum").value_or(0);
  }
  const auto* momentum = one.find("train.optimizer.momentum");
  return momentum == nullptr ? 0 : momentum->get<double>();
}

Bytes state_bytes(const std::string& optimizer, const Case& one) {
  if (optimizer == "sgd" && momentum_of(one) == 0) return 0;
  return find(kState, optimizer);
}

/// `each` bytes for each of the row's parameters, and more; nothing where an integer can't hold it:
/// what a worker says may be anything.
Bytes for_each_parameter(const Row& row, std::int64_t each, std::int64_t more = 0,
                         std::int64_t rest = 0) {
  const Bytes parameters = integer_in(row, column::parameters);
  std::int64_t sum = 0;
  const bool overflows = !parameters || __builtin_mul_overflow(*parameters, each, &sum) ||
                         __builtin_add_overflow(sum, more, &sum) ||
                         __builtin_add_overflow(sum, rest, &sum);
  return overflows ? Bytes() : sum;
}

}  // namespace

Bytes rule_model_states_bytes(const Row& row, const Case& one) {
  if (ranks_of(row) > 1 || !number_in(row, column::model_states_bytes)) return std::nullopt;
  const Bytes weights = find(kWeights, text_in(row, column::precision));
  const Bytes state = state_bytes(text_in(row, column::optimizer), one);
  if (!weights || !state) return std::nullopt;
  return for_each_parameter(row, *weights + kGradients + *state);
}

Bytes rule_driver_peak_bytes(const Row& row) {
  const std::string optimizer = text_in(row, column::optimizer);
  const Bytes activations = integer_in(row, column::peak_activations_bytes);
  const bool applies = ranks_of(row) == 1 && is_plain(row) &&
                       text_in(row, column::precision) == "float32" &&
                       (optimizer == "adam" || optimizer == "adamw");
  if (!applies || activations.value_or(0) <= 0 || !number_in(row, column::driver_peak_bytes)) {
    return std::nullopt;
  }
  return for_each_parameter(row, kAllOfAdam, *activations, kRest);
}

}  // namespace headroom
