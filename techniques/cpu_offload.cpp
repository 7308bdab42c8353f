// SPDX-License-Identifier: Apache-2.0
#include "techniques/cpu_offload.h"

#include <memory>

#include "techniques/sharded_model.h"

namespace headroom {

void CpuOffload::edit_recipe(Recipe& recipe) const {
  recipe.offloads_weights = true;
  recipe.joins_ranks = true;  // one rank is a group as well
  recipe.moves_in_units = true;
}

void CpuOffload::split_parameters(Step& step, const Recipe& recipe) const {
  if (recipe.shares_weights) return;  // fsdp keeps its parts on the host
  const ShardingOptions options{.share_weights = true, .reduce_in_backward = true};
  std::make_shared<ShardedModel>(step, recipe, options)->take_over();
}

std::string CpuOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.fetched_bytes == 0) return "no block fetched its weights";
  return evidence.offloaded_bytes == 0 ? "no gradient went to the host" : "";
}

}  // namespace headroom
