// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// What blocks save for backward is copied to host memory, on a stream of its own, and fetched when
/// backward asks for it. Parameters and tensors below 16 KiB stay.
/// Saves: the saved tensors of all blocks but the one at work.
/// Costs: those bytes on the host and over the host link, once each way a step.
/// Source: torch.autograd.graph.save_on_cpu; torchtune's activation offloading.
class ActivationOffload final : public Technique {
 public:
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
