// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Optimizer state and the update live on the host (src/optimizers/host_optimizer.cpp).
/// Saves: on the device Adam's 8P, momentum's 4P, and the multi-tensor update's temporary of 4P.
/// Costs: on the host state, a copy of the parameters and the gradients, 16P for Adam; 4P over the
/// host link each way a step; the update runs at the host's speed.
/// Source: Ren et al. 2021, arXiv:2101.06840.
class OptimizerOffload final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.optimizer_on_host = true; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
