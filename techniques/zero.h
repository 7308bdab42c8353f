// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Each rank keeps the optimizer state of its part of the parameters, updates that part, and sends
/// it to the others. Gradients are whole until the update. Saves, of P parameters on N ranks: 8P (1
/// - 1/N) bytes of Adam's state. Costs: as many bytes between ranks as DDP: P in, P out. Source:
/// Rajbhandari et al. 2020, arXiv:1910.02054 (P_os).
class Zero1 final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

/// As zero_1, and a block's gradients are reduced to this rank's part as soon as they are there.
/// Saves beyond zero_1: 4P (1 - 1/N) bytes of gradients, but for one block's.
/// Costs: as zero_1; with accumulation, a reduction for each micro-batch.
/// Source: Rajbhandari et al. 2020, arXiv:1910.02054 (P_os+g).
class Zero2 final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
