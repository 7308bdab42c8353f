// SPDX-License-Identifier: Apache-2.0
#include "techniques/zero_2.h"

namespace headroom {

void Zero2::fields(Fields& f) { ShardedModel::whole_weights_field(f, parameter_dtype_); }

void Zero2::edit_recipe(Recipe& recipe) const { ShardedModel::edit_recipe(recipe); }

void Zero2::check_recipe(const Recipe& recipe) const {
  ShardedModel::check_whole_weights(recipe, parameter_dtype_);
}

void Zero2::split_parameters(Step& step, const Recipe& recipe) const {
  ShardedModel::take_over(step, recipe,
                          {.reduce_in_backward = true,
                           .parameter_dtype = scalar_type(parameter_dtype_),
                           .keep_gradient_dtype = true});
}

std::string Zero2::why_inactive(const Evidence& evidence, const Recipe&) const {
  return ShardedModel::why_inactive(evidence, parameter_dtype_);
}

}  // namespace headroom
