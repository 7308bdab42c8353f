// SPDX-License-Identifier: Apache-2.0
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Optimizer state and the update live on the host, with a copy of the parameters and of the
/// gradients (src/optimizers/host_optimizer.cpp).
class OptimizerOffload final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.optimizer_on_host = true; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

std::string OptimizerOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.device_state_bytes != 0) {
    return std::to_string(evidence.device_state_bytes) + " bytes of state are on the device";
  }
  if (evidence.host_state_bytes == 0) return "the optimizer has no state to offload";
  return {};
}

}  // namespace

extern constinit const TechniqueEntry kOptimizerOffload{
    .name = "optimizer_offload",
    .summary = "optimizer state and update on the host",
    .saves = "8P of Adam's state on the device; puts 16P on the host",
    .costs = "4P over the host link each way a step; an update at the host's speed",
    .source = "ZeRO-Offload, Ren et al. 2021, arXiv:2101.06840",
    .make = &make_technique<OptimizerOffload>,
    .fit_cost = {.host_link = 1},
};

}  // namespace headroom
