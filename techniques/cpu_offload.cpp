// SPDX-License-Identifier: Apache-2.0
#include "techniques/sharded_model.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Weights, optimizer state and the update live on the host; a block fetches its weights before it
/// runs, forward and backward, and its gradients go to the host. With fsdp, of this rank's part;
/// alone (N = 1), of the whole model on one device. The blocks at work are two blocks' weights and
/// one block's gradients.
class CpuOffload final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void CpuOffload::edit_recipe(Recipe& recipe) const {
  ShardedModel::edit_recipe(recipe, Sharding::none);  // one rank is a group as well
  recipe.weights_on = WeightsOn::host;
}

void CpuOffload::split_parameters(Step& step, const Recipe& recipe) const {
  if (recipe.sharding == Sharding::weights) return;  // fsdp keeps its parts on the host
  ShardedModel::take_over(step, recipe, {.sharding = Sharding::weights});
}

std::string CpuOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.fetched_bytes == 0) return "no block fetched its weights";
  return evidence.offloaded_bytes == 0 ? "no gradient went to the host" : "";
}

}  // namespace

constexpr std::string_view kCpuOffloadExcludes[] = {"ddp", "zero_1", "zero_2", "optimizer_offload",
                                                    "optimizer_in_backward"};

extern constinit const TechniqueEntry kCpuOffload{
    .name = "cpu_offload",
    .summary = "weights, state and update on the host; blocks fetch their weights when they run",
    .saves = "16P / N of weights, gradients and Adam's state, but for the blocks at work",
    .costs = "12P / N over the host link a step; an update at the host's speed",
    .source = "torch's FullyShardedDataParallel with CPUOffload; ZeRO-Offload, arXiv:2101.06840",
    .make = &make_technique<CpuOffload>,
    .excludes = kCpuOffloadExcludes,
    .fit_cost = {.host_link = 1},
};

}  // namespace headroom
