// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/options.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// SGD in place of the suite's optimizer, whose implementation and weight decay stay. The source's
/// options: lr 0.01, no momentum, cosine schedule.
class SgdSwap final : public Technique {
 public:
  SgdSwap();
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  OptimizerOptions options_;
};

SgdSwap::SgdSwap() {
  options_.name = "sgd";
  options_.lr = 0.01;
}

void SgdSwap::fields(Fields& f) {
  options_.schedule_fields(f);
  f.number({"momentum", "0: no momentum and no state"}, options_.momentum, {0.0, 0.999999});
}

void SgdSwap::edit_recipe(Recipe& recipe) const {
  const OptimizerOptions before = recipe.optimizer;
  recipe.optimizer = options_;
  recipe.optimizer.implementation = before.implementation;
  recipe.optimizer.weight_decay = before.weight_decay;
}

std::string SgdSwap::why_inactive(const Evidence& evidence, const Recipe& recipe) const {
  if (recipe.train.optimizer.name == "sgd") return "the suite's optimizer is sgd already";
  const std::int64_t expected = options_.momentum == 0.0 ? 0 : evidence.trained_bytes;
  const std::int64_t state = evidence.device_state_bytes + evidence.host_state_bytes;
  if (state == expected) return {};
  return "the optimizer keeps " + std::to_string(state) + " bytes of state, not " +
         std::to_string(expected);
}

}  // namespace

extern constinit const TechniqueEntry kSgd{
    .name = "sgd",
    .summary = "SGD in place of the suite's optimizer",
    .saves = "8P of Adam's state; 4P with momentum",
    .costs = "another optimizer: other learning rate, other convergence",
    .source = "rasbt/pytorch-memory-optim 06",
    .make = &make_technique<SgdSwap>,
    .fit_cost = {.numerics = 4},
    .changes = "other optimizer",
};

}  // namespace headroom
