// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "techniques/technique.h"

namespace headroom {

/// Each rank has the whole model and a batch of its own; gradients are averaged over ranks, bucket
/// by bucket, while backward goes on. With accumulation, the last micro-batch alone communicates.
/// Saves: nothing; it is what sharding is compared with. Buckets take 4P bytes more, unless
/// gradients are views of them. Costs: 2 (1 - 1/N) times the gradients' bytes, sent by each of N
/// ranks. Source: Li et al. 2020, arXiv:2006.15704; LibTorch's c10d::Reducer, which
/// torch.nn.parallel.DistributedDataParallel drives likewise.
class Ddp final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override { recipe.joins_ranks = true; }
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t bucket_mib_ = 25;
  bool gradient_as_bucket_view_ = false;
};

}  // namespace headroom
