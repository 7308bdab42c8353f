// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {

/// As zero_1, and a block's gradients are reduced to this rank's part as soon as they are there.
/// Holds, of P parameters on N ranks with Adam: 4P + 12P/N bytes; with a parameter_dtype of 16 bits
/// 2P + 14P/N. Saves beyond zero_1: 4P (1 - 1/N) bytes of gradients, but for one block's.
/// Costs: as zero_1; with accumulation, a reduction for each micro-batch.
/// Source: Rajbhandari et al. 2020, arXiv:1910.02054 (P_os+g).
class Zero2 final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void check_recipe(const Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  ShardDtype parameter_dtype_ = ShardDtype::same;
};

}  // namespace headroom
