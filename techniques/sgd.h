// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/optimizers/options.h"
#include "techniques/technique.h"

namespace headroom {

/// SGD in place of the suite's optimizer, implementation and weight decay kept.
/// Saves: Adam's two moments, 8P in fp32 (4P in bf16); with momentum one buffer, 4P, stays.
/// Costs: another optimizer, so another learning rate and another convergence.
/// Source: rasbt/pytorch-memory-optim 06 (lr 0.01, no momentum, cosine schedule).
class SgdSwap final : public Technique {
 public:
  SgdSwap();
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  OptimizerOptions options_;
};

}  // namespace headroom
