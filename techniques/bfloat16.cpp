// SPDX-License-Identifier: Apache-2.0
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Weights, gradients, optimizer state and activations in bfloat16; logits go to fp32 for the loss.
/// Updates below 1/256 of a weight are lost in rounding.
class Bfloat16 final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.dtype = at::kBFloat16; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

std::string Bfloat16::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.parameter_bytes != 2 * evidence.parameter_count) {
    return "parameters take " + std::to_string(evidence.parameter_bytes) + " bytes, not two each";
  }
  if (evidence.steps > 0 && evidence.low_precision_flops == 0) return "no product ran in 16 bits";
  return {};
}

}  // namespace

extern constinit const TechniqueEntry kBfloat16{
    .name = "bfloat16",
    .summary = "weights, gradients, optimizer state and activations in bfloat16",
    .saves = "2P weights, 2P gradients, 4P Adam state, half of the activations",
    .costs = "8 bits of precision in the update",
    .source = "rasbt/pytorch-memory-optim 03 (bf16-true)",
    .make = &make_technique<Bfloat16>,
    .loss_tolerance = 5e-2,
    .gradient_tolerance = 1e-1,
    .fit_cost = {.numerics = 2},
    .changes = "16-bit weights",
};

}  // namespace headroom
