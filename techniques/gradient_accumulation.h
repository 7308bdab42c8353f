// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "techniques/technique.h"

namespace headroom {

/// A batch of B samples runs as k micro-batches of B/k; gradients add up, then one update.
/// Saves: (1 - 1/k) of the activations and temporaries of the batch.
/// Costs: products of B/k samples; gradients, 4P, live through forward; k passes over the weights.
/// Each micro-batch's mean loss is weighted by its samples, so an uneven last one counts right.
/// Source: rasbt/pytorch-memory-optim 05. Excludes: optimizer_in_backward.
class GradientAccumulation final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override { recipe.micro_batches = micro_batches_; }
  void check_recipe(const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t micro_batches_ = 4;
};

}  // namespace headroom
