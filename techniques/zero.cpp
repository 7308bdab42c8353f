// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// zero_1: each rank keeps the optimizer state of its part of the parameters, updates that part,
/// and sends it to the others; gradients are whole until the update. zero_2: a block's gradients
/// are reduced to this rank's part as soon as they are there. With a parameter_dtype of 16 bits
/// whole weights and gradients are in that type, and each rank has its part of the weights in full
/// precision beside them: the mixed-precision Adam of the paper. A rank then holds 4P + 12P/N bytes
/// (zero_1), or 2P + 14P/N (zero_2), and during the update 4P/N of widened gradients. Such
/// gradients exclude mixed_precision in float16.
template <Sharding sharding>
class Zero final : public Technique {
 public:
  void fields(Fields& f) override {
    f.choice({"parameter_dtype",
              "of whole weights and of gradients; what is updated stays in full precision; same: "
              "all as weights are kept"},
             parameter_dtype_);
  }

  void edit_recipe(Recipe& recipe) const override {
    ShardedModel::edit_recipe(recipe, sharding);
    recipe.weights_at_work = scalar_type(parameter_dtype_);
  }

  void check_recipe(const Recipe& recipe) const override {
    if (recipe.autocast == at::kHalf && is_narrow(parameter_dtype_)) {
      throw Unsupported(kNoScalingOfNarrowGradients);
    }
  }

  void split_parameters(Step& step, const Recipe& recipe) const override {
    ShardedModel::take_over(step, recipe, {.sharding = sharding, .keep_gradient_dtype = true});
  }

  std::string why_inactive(const Evidence& evidence, const Recipe&) const override {
    return ShardedModel::why_inactive(evidence, parameter_dtype_);
  }

 private:
  WeightDtype parameter_dtype_ = WeightDtype::same;
};

}  // namespace

// A parameter's gradient is there before it is that of all ranks.
constexpr std::string_view kZeroExcludes[] = {"optimizer_in_backward"};

extern constinit const TechniqueEntry kZero1{
    .name = "zero_1",
    .summary = "each rank keeps the optimizer state of its part and updates that",
    .saves = "8P (1 - 1/N) of Adam's state; in 16 bits (parameter_dtype) 12P (1 - 1/N)",
    .costs = "as many bytes between ranks as ddp",
    .source = "Rajbhandari et al. 2020, arXiv:1910.02054 (P_os), section 5.1",
    .make = &make_technique<Zero<Sharding::state>>,
    .rounds_by = kNarrowWeights,
    .excludes = kZeroExcludes,
    .joins_ranks = true,
};

extern constinit const TechniqueEntry kZero2{
    .name = "zero_2",
    .summary = "zero_1, and each rank keeps its part of the gradients alone",
    .saves =
        "zero_1's and 4P (1 - 1/N) of gradients, but for one block's; in 16 bits "
        "14P (1 - 1/N) in all",
    .costs = "as zero_1; a reduction for each micro-batch",
    .source = "Rajbhandari et al. 2020, arXiv:1910.02054 (P_os+g), section 5.2",
    .make = &make_technique<Zero<Sharding::gradients>>,
    .rounds_by = kNarrowWeights,
    .excludes = kZeroExcludes,
    .joins_ranks = true,
    .fit_cost = {.rank_link = 1},
};

}  // namespace headroom
