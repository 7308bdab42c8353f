// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "techniques/technique.h"

namespace headroom {

/// Blocks keep only their input for backward and run again when backward comes to them.
/// Saves: of L blocks that save A bytes each with an input of I: (L - 1) (A - I) - I, every block
/// by itself; in groups of n blocks, L/n inputs and n A. Costs: the forward of the blocks once more
/// (nested: twice), a third of a step's FLOPs. Random state and autocast are restored; the second
/// run stops at the last tensor that is needed. Source: Chen et al. 2016, arXiv:1604.06174;
/// torch.utils.checkpoint. Listed after it, activation_offload moves the kept inputs; listed before
/// it, it would keep what is to be dropped.
class ActivationCheckpointing final : public Technique {
 public:
  void fields(Fields& f) override;
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t every_ = 1;
  std::int64_t nested_ = 0;
  bool reentrant_ = false;
};

}  // namespace headroom
