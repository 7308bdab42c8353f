// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Weights, optimizer state and the update live on the host; a block fetches its weights before it
/// runs, forward and backward, and its gradients go to the host. With fsdp, of this rank's part;
/// alone, of the whole model on one device. Saves: on the device 16P / N bytes with Adam, but for
/// two blocks' weights and one block's gradients. Costs: on the host 16P / N bytes; 12P / N over
/// the host link a step; the update runs at the host's speed. Source: CPUOffload of torch's
/// FullyShardedDataParallel; ZeRO-Offload, arXiv:2101.06840.
class CpuOffload final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
