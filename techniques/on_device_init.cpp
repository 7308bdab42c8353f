// SPDX-License-Identifier: Apache-2.0
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Each parameter is made on the device and in the dtype in which it stays, one after the other.
/// Without it a model is built in full precision on the host, moved, and cast. On the CPU the fp32
/// draw of the largest parameter is there too. On another device than the CPU the random weights
/// are others.
class OnDeviceInit final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.build_on_device = true; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

std::string OnDeviceInit::why_inactive(const Evidence& evidence, const Recipe& recipe) const {
  if (recipe.device.is_cpu() && !recipe.splits_parameters() &&
      c10::elementSize(recipe.dtype) >= c10::elementSize(at::kFloat)) {
    return "full-precision weights on the CPU are made where and as they stay in any case; "
           "combine it with bfloat16, or use a GPU";
  }
  if (evidence.staged_parameter_bytes == 0) return {};
  return std::to_string(evidence.staged_parameter_bytes) + " bytes of parameters were staged";
}

}  // namespace

extern constinit const TechniqueEntry kOnDeviceInit{
    .name = "on_device_init",
    .summary = "parameters are made where and as they stay, one by one",
    .saves = "4P of host memory; 2P on the device where weights end narrower than fp32",
    .costs = "nothing",
    .source = "rasbt/pytorch-memory-optim 07; Lightning Fabric init_module",
    .make = &make_technique<OnDeviceInit>,
    .draws_on_device = true,
};

}  // namespace headroom
