// SPDX-License-Identifier: Apache-2.0
#include "techniques/cpu_offload.h"

#include "techniques/sharded_model.h"

namespace headroom {

void CpuOffload::edit_recipe(Recipe& recipe) const {
  ShardedModel::edit_recipe(recipe);  // one rank is a group as well
  recipe.offloads_weights = true;
}

void CpuOffload::split_parameters(Step& step, const Recipe& recipe) const {
  if (recipe.shares_weights) return;  // fsdp keeps its parts on the host
  ShardedModel::take_over(step, recipe, {.share_weights = true, .reduce_in_backward = true});
}

std::string CpuOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.fetched_bytes == 0) return "no block fetched its weights";
  return evidence.offloaded_bytes == 0 ? "no gradient went to the host" : "";
}

}  // namespace headroom
