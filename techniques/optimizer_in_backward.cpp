// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "src/core/error.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Each parameter is updated, and its gradient freed, as soon as backward has made it.
class OptimizerInBackward final : public Technique {
 public:
  void check_recipe(const Recipe& recipe) const override;
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void OptimizerInBackward::check_recipe(const Recipe& recipe) const {
  if (recipe.train.max_gradient_norm > 0.0) {
    throw Unsupported("optimizer_in_backward frees each gradient before the norm of all is known");
  }
  if (recipe.autocast == at::kHalf) {
    throw Unsupported(
        "optimizer_in_backward updates before the loss scaler knows of overflow; "
        "mixed_precision in bfloat16 needs no scaler");
  }
}

void OptimizerInBackward::wrap_step(Step& step, const Recipe&) const {
  step.backward = [&step, inner = std::move(step.backward)](const at::Tensor& loss) {
    step.optimizer->begin_step();
    inner(loss);
  };
  step.gradient_ready = [&step, inner = std::move(step.gradient_ready)](std::size_t index) {
    inner(index);
    step.optimizer->update(std::array{index});
    at::Tensor parameter = step.trained[index];
    parameter.mutable_grad().reset();
    ++step.evidence.updates_in_backward;
  };
  step.update = [] {};
}

std::string OptimizerInBackward::why_inactive(const Evidence& evidence, const Recipe&) const {
  const std::int64_t expected = evidence.steps * evidence.parameter_tensors;
  if (evidence.updates_in_backward == expected) return {};
  return std::to_string(evidence.updates_in_backward) + " updates in backward where " +
         std::to_string(expected) + " were due";
}

}  // namespace

constexpr std::string_view kInBackwardExcludes[] = {"gradient_accumulation"};

extern constinit const TechniqueEntry kOptimizerInBackward{
    .name = "optimizer_in_backward",
    .summary = "each parameter is updated as soon as its gradient is there",
    .saves = "all gradients but the largest",
    .costs =
        "no accumulation, no clipping, no loss scaling (mixed_precision in float16): they need "
        "all gradients at once",
    .source = "PyTorch tutorial 'optimizer step in backward'; LOMO, arXiv:2306.09782",
    .make = &make_technique<OptimizerInBackward>,
    .excludes = kInBackwardExcludes,
    .fit_cost = {.whole_batch = 1},
};

}  // namespace headroom
