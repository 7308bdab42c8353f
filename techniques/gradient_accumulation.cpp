// SPDX-License-Identifier: Apache-2.0
#include "techniques/gradient_accumulation.h"

#include "src/core/error.h"

namespace headroom {

void GradientAccumulation::fields(Fields& f) {
  f.integer({"micro_batches", "micro-batches an update"}, micro_batches_, {2, 1'048'576});
}

void GradientAccumulation::check_recipe(const Recipe& recipe) const {
  if (recipe.micro_batch_size() * (micro_batches_ - 1) >= recipe.train.batch_size) {
    throw Unsupported("a batch of " + std::to_string(recipe.train.batch_size) +
                      " samples does not fill " + std::to_string(micro_batches_) +
                      " micro-batches");
  }
}

std::string GradientAccumulation::why_inactive(const Evidence& evidence, const Recipe&) const {
  const std::int64_t expected = evidence.steps * micro_batches_;
  if (evidence.backward_passes == expected) return {};
  return std::to_string(evidence.backward_passes) + " backward passes where " +
         std::to_string(expected) + " were due";
}

}  // namespace headroom
