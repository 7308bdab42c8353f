// SPDX-License-Identifier: Apache-2.0
#include "techniques/zero_1.h"

namespace headroom {

void Zero1::fields(Fields& f) { ShardedModel::whole_weights_field(f, parameter_dtype_); }

void Zero1::edit_recipe(Recipe& recipe) const { ShardedModel::edit_recipe(recipe); }

void Zero1::check_recipe(const Recipe& recipe) const {
  ShardedModel::check_whole_weights(recipe, parameter_dtype_);
}

void Zero1::split_parameters(Step& step, const Recipe& recipe) const {
  ShardedModel::take_over(
      step, recipe,
      {.parameter_dtype = scalar_type(parameter_dtype_), .keep_gradient_dtype = true});
}

std::string Zero1::why_inactive(const Evidence& evidence, const Recipe&) const {
  return ShardedModel::why_inactive(evidence, parameter_dtype_);
}

}  // namespace headroom
