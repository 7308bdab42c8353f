// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Weights, gradients, optimizer state and activations in bfloat16; logits go to fp32 for the loss.
/// Saves: 2P of weights, 2P of gradients, 4P of Adam's state, half of the activations.
/// Costs: updates below 1/256 of a weight are lost in rounding.
/// Source: rasbt/pytorch-memory-optim 03 ("bf16-true"). Excludes: mixed_precision.
class Bfloat16 final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.dtype = at::kBFloat16; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
