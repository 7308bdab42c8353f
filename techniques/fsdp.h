// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {

/// Each rank keeps its part of weights, gradients and optimizer state; a block gathers its weights
/// before it runs, forward and backward, and drops them after.
/// Saves, of P parameters on N ranks: 16P (1 - 1/N) bytes with Adam, but for two blocks' weights
/// and one block's gradients. Costs: P bytes more between ranks than DDP, each step. Source: Zhao
/// et al. 2023, arXiv:2304.11277; Rajbhandari et al. 2020, arXiv:1910.02054 (P_os+g+p).
class Fsdp final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  bool reshard_after_forward_ = true;
  bool prefetch_forward_ = false;
  bool prefetch_backward_ = true;
  bool limit_all_gathers_ = true;
  ShardDtype parameter_dtype_ = ShardDtype::same;
  ShardDtype reduce_dtype_ = ShardDtype::same;
  std::int64_t min_parameters_ = 0;
};

}  // namespace headroom
