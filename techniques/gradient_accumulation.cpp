// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "src/core/error.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// A batch of B samples runs as k micro-batches of B/k; gradients add up, then one update. Each
/// micro-batch's mean loss is weighted by its samples, so that an uneven last one counts right.
class GradientAccumulation final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override { recipe.micro_batches = micro_batches_; }
  void check_recipe(const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t micro_batches_ = 4;
};

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

}  // namespace

extern constinit const TechniqueEntry kGradientAccumulation{
    .name = "gradient_accumulation",
    .summary = "a batch in micro-batches whose gradients add up",
    .saves = "activations and temporaries of a batch, times 1 - 1 / micro_batches",
    .costs = "smaller products; gradients live through forward",
    .source = "rasbt/pytorch-memory-optim 05; arXiv:1811.06965",
    .make = &make_technique<GradientAccumulation>,
    .loss_tolerance = 1e-5,
    .gradient_tolerance = 1e-4,
    .splits_batch = true,
};

}  // namespace headroom
