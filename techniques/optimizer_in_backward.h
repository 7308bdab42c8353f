// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Each parameter is updated, and its gradient freed, as soon as backward has made it.
/// Saves: 4P of gradients, less those of the largest parameter, and the update's temporaries.
/// Costs: whatever needs all gradients at once: accumulation, clipping, fp16 loss scaling.
/// Source: PyTorch's tutorial "How to save memory by fusing the optimizer step into the backward
/// pass"; Lv et al. 2023, arXiv:2306.09782. Excludes: gradient_accumulation.
class OptimizerInBackward final : public Technique {
 public:
  void check_recipe(const Recipe& recipe) const override;
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
