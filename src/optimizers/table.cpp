// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/table.h"
#include "src/optimizers/update_rule.h"

namespace headroom {

// Each stands at the end of its optimizer's file.
extern const OptimizerEntry kAdafactor, kAdaLomo, kAdam, kAdam4Bit, kAdam8Bit, kAdamW, kApollo,
    kLion, kSgdOptimizer;

std::span<const OptimizerEntry> optimizer_table() {
  static const std::array kOptimizers{
      kAdam, kAdamW, kAdam8Bit, kAdam4Bit, kAdafactor, kAdaLomo, kApollo, kLion, kSgdOptimizer,
  };
  return kOptimizers;
}

const OptimizerEntry& find_optimizer(std::string_view name) {
  return find_entry(optimizer_table(), "optimizer", name);
}

namespace {

bool has(const OptimizerEntry& entry, Implementation implementation) {
  return std::ranges::find(entry.implementations, implementation) != entry.implementations.end();
}

/// The implementations that some optimizer has.
std::vector<Choice> implementation_choices() {
  std::vector<Choice> choices;
  const auto names = enum_names<Implementation>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto is_in = [&](const OptimizerEntry& entry) {
      return has(entry, static_cast<Implementation>(i));
    };
    if (std::ranges::any_of(optimizer_table(), is_in)) choices.push_back({.name = names[i]});
  }
  return choices;
}

}  // namespace

void OptimizerOptions::fields(Fields& f) {
  std::vector<Choice> optimizers;
  for (const OptimizerEntry& entry : optimizer_table()) {
    optimizers.push_back({.name = entry.name, .summary = entry.summary});
  }
  f.choice({"name", "which optimizer"}, name, optimizers);
  std::string chosen(enum_name(implementation));
  f.choice({"implementation", "how the update is computed: it decides the temporaries"}, chosen,
           implementation_choices());
  const auto names = enum_names<Implementation>();
  implementation = static_cast<Implementation>(std::ranges::find(names, chosen) - names.begin());
  schedule_fields(f);
  f.number({"beta1",
            "decay of the first moment; of lion's momentum, in the update alone",
            {"adam", "adamw", "adam_8bit", "adam_4bit", "apollo", "lion"}},
           beta1, {0.0, 0.999999});
  f.number({"beta2",
            "decay of the second moment",
            {"adam", "adamw", "adam_8bit", "adam_4bit", "apollo"}},
           beta2, {0.0, 0.999999});
  f.number(
      {"eps", "added to the denominator", {"adam", "adamw", "adam_8bit", "adam_4bit", "apollo"}},
      eps, {1e-12, 1.0});
  f.number({"weight_decay", "decay of the weights per update"}, weight_decay, {0.0, 1.0});
  f.number({"momentum", "0: no momentum and no state", {"sgd"}}, momentum, {0.0, 0.999999});
  f.number({"momentum_decay", "decay of the momentum that is kept", {"lion"}}, momentum_decay,
           {0.0, 0.999999});
  f.integer({"projection_rank", "dimensions to which a matrix's gradient is projected", {"apollo"}},
            projection_rank, {1, 1'000'000});
  f.integer({"projection_interval", "updates until projections are others", {"apollo"}},
            projection_interval, {1, 1'000'000'000});
  f.number({"scale", "of a projected matrix's updates, whose root multiplies them", {"apollo"}},
           scale, {0.0, 1e6});
  f.choice({"scale_by", "what of a gradient has a factor of its own", {"apollo"}}, scale_by);
}

void OptimizerOptions::schedule_fields(Fields& f) {
  f.number({"lr", "learning rate of the first update"}, lr, {0.0, 10.0});
  f.choice({"schedule", "how the learning rate falls"}, schedule);
  f.integer({"schedule_steps", "updates until linear or cosine reaches 0"}, schedule_steps,
            {1, 1'000'000'000});
}

void OptimizerOptions::check() const {
  const OptimizerEntry& entry = find_optimizer(name);
  if (has(entry, implementation)) return;
  std::string allowed;
  for (const Implementation one : entry.implementations) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(enum_name(one));
  }
  throw Unsupported("the optimizer " + name + " has no implementation '" +
                    std::string(enum_name(implementation)) + "'; it has " + allowed);
}

double OptimizerOptions::lr_at(std::int64_t step) const {
  const double done =
      std::min(1.0, static_cast<double>(step - 1) / static_cast<double>(schedule_steps));
  switch (schedule) {
    case Schedule::constant:
      return lr;
    case Schedule::linear:
      return lr * (1.0 - done);
    case Schedule::cosine:
      return lr * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return lr;
}

}  // namespace headroom
