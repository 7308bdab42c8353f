// SPDX-License-Identifier: Apache-2.0
#include "techniques/zero.h"

#include <memory>

#include "techniques/sharded_model.h"

namespace headroom {
namespace {

void share_updates(Step& step, const Recipe& recipe, bool reduce_in_backward) {
  ShardingOptions options;
  options.reduce_in_backward = reduce_in_backward;
  std::make_shared<ShardedModel>(step, recipe, options)->take_over();
}

std::string why_nothing_was_shared(const Evidence& evidence) {
  if (evidence.reductions == 0) return "no gradient was reduced";
  return evidence.gathers == 0 ? "no updated weight was sent" : "";
}

}  // namespace

void Zero1::edit_recipe(Recipe& recipe) const {
  recipe.joins_ranks = true;
  recipe.moves_in_units = true;
}

void Zero2::edit_recipe(Recipe& recipe) const { Zero1().edit_recipe(recipe); }

void Zero1::split_parameters(Step& step, const Recipe& recipe) const {
  share_updates(step, recipe, /*reduce_in_backward=*/false);
}

void Zero2::split_parameters(Step& step, const Recipe& recipe) const {
  share_updates(step, recipe, /*reduce_in_backward=*/true);
}

std::string Zero1::why_inactive(const Evidence& evidence, const Recipe&) const {
  return why_nothing_was_shared(evidence);
}

std::string Zero2::why_inactive(const Evidence& evidence, const Recipe&) const {
  return why_nothing_was_shared(evidence);
}

}  // namespace headroom
