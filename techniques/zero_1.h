// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {

/// Each rank keeps the optimizer state of its part of the parameters, updates that part, and sends
/// it to the others. Gradients are whole until the update. With a parameter_dtype of 16 bits, whole
/// weights and gradients are in that type, and each rank has its part of the weights in full
/// precision beside them: the mixed-precision Adam of the paper.
/// Holds, of P parameters on N ranks with Adam: 8P + 8P/N bytes; in 16 bits 4P + 12P/N, and for the
/// update 4P/N of widened gradients. Saves 8P (1 - 1/N) of Adam's state. Costs: as many bytes
/// between ranks as DDP: P in, P out. Excludes, in 16 bits: mixed_precision in float16.
/// Source: Rajbhandari et al. 2020, arXiv:1910.02054 (P_os).
class Zero1 final : public Technique {
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
