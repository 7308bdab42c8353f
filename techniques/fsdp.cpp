// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Each rank keeps its part of weights, gradients and optimizer state; a block gathers its weights
/// before it runs, forward and backward, and drops them after. The blocks at work are two blocks'
/// weights and one block's gradients.
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
  WeightDtype parameter_dtype_ = WeightDtype::same;
  WeightDtype reduce_dtype_ = WeightDtype::same;
  std::int64_t min_parameters_ = 0;
  bool one_unit_ = false;
};

void Fsdp::fields(Fields& f) {
  f.boolean({"reshard_after_forward", "blocks drop their weights between forward and backward"},
            reshard_after_forward_);
  f.boolean({"prefetch_forward", "the next block's weights are gathered while one runs"},
            prefetch_forward_);
  f.boolean({"prefetch_backward", "likewise in backward"}, prefetch_backward_);
  f.boolean({"limit_all_gathers",
             "the host waits until all but two blocks are done with; PyTorch's default since 2.1, "
             "without it CUDA's allocator can't use their memory again"},
            limit_all_gathers_);
  f.choice(
      {"parameter_dtype", "of gathered weights and their gradients; same: as weights are kept"},
      parameter_dtype_);
  f.choice({"reduce_dtype", "of gradients while they are reduced; same: as they arise"},
           reduce_dtype_);
  f.integer({"min_parameters", "neighbouring blocks are gathered as one until they have so many"},
            min_parameters_, {0, 1'000'000'000'000});
  f.boolean(
      {"one_unit",
       "no block is wrapped: all weights are gathered from forward to the end of backward, as "
       "FullyShardedDataParallel without a policy has it; options of blocks say nothing then"},
      one_unit_);
}

void Fsdp::edit_recipe(Recipe& recipe) const {
  ShardedModel::edit_recipe(recipe, Sharding::weights);
  recipe.weights_at_work = scalar_type(parameter_dtype_);
}

void Fsdp::split_parameters(Step& step, const Recipe& recipe) const {
  const ShardingOptions options{.sharding = Sharding::weights,
                                .reshard_after_forward = reshard_after_forward_,
                                .prefetch_forward = prefetch_forward_,
                                .prefetch_backward = prefetch_backward_,
                                .limit_all_gathers = limit_all_gathers_,
                                .reduce_dtype = scalar_type(reduce_dtype_),
                                .min_parameters = min_parameters_,
                                .one_unit = one_unit_};
  ShardedModel::take_over(step, recipe, options);
}

std::string Fsdp::why_inactive(const Evidence& evidence, const Recipe&) const {
  return ShardedModel::why_inactive(evidence, parameter_dtype_);
}

}  // namespace

// A parameter's gradient is there before it is that of all ranks.
constexpr std::string_view kFsdpExcludes[] = {"optimizer_in_backward"};

extern constinit const TechniqueEntry kFsdp{
    .name = "fsdp",
    .summary = "zero_2, and blocks gather their weights when they run",
    .saves = "16P (1 - 1/N) of weights, gradients and Adam's state, but for the blocks at work",
    .costs = "4P (1 - 1/N) bytes more between ranks than ddp",
    .source =
        "Zhao et al. 2023, arXiv:2304.11277; arXiv:1910.02054 (P_os+g+p), section 5.3; torch's "
        "FullyShardedDataParallel",
    .make = &make_technique<Fsdp>,
    .rounds_by = kNarrowWeights,
    .excludes = kFsdpExcludes,
    .joins_ranks = true,
    .fit_cost = {.rank_link = 2},
};

}  // namespace headroom
