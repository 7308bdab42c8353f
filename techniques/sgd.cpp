// SPDX-License-Identifier: Apache-2.0
#include "techniques/sgd.h"

namespace headroom {

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

}  // namespace headroom
