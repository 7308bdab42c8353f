// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "techniques/technique.h"

namespace headroom {

/// Ranks share the products of each block, and see the same samples: of attention and of the
/// feed-forward layer, the first product is cut by its outputs and the second by its inputs.
/// Saves, of B parameters in the blocks' products on N ranks: 16B (1 - 1/N) bytes with Adam, and
/// activations between those products, times 1 - 1/N; with `sequence_parallel` all activations of
/// the blocks. Costs: four sums over ranks of a (B, T, D) tensor a block and micro-batch.
/// Source: Shoeybi et al. 2019, arXiv:1909.08053; Korthikanti et al. 2022, arXiv:2205.05198.
class TensorParallel final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void check_recipe(const Recipe& recipe) const override;
  /// Throws Unsupported where a layer can't be cut in as many equal parts as there are ranks.
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  bool sequence_parallel_ = false;
};

}  // namespace headroom
