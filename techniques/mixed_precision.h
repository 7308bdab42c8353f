// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

enum class LowPrecision { float16, bfloat16 };

/// Products run in 16 bits, sums and the loss in fp32; weights, gradients and state stay fp32.
/// Saves: about half of the activations. Costs: a 16-bit copy of the weights, 2P, for the length of
/// a forward pass and, where backward needs it, until then; casts; other rounding.
/// float16 comes with a loss scaler. With the fused optimizer the device decides alone whether an
/// update is skipped; with the others the host has to ask it, once an update.
/// Source: arXiv:1710.03740; torch.autocast and torch.amp.GradScaler. Excludes: bfloat16.
class MixedPrecision final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  LowPrecision dtype_ = LowPrecision::float16;
};

}  // namespace headroom
