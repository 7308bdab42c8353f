// SPDX-License-Identifier: Apache-2.0
#include "techniques/optimizer_in_backward.h"

#include <array>
#include <utility>

#include "src/core/error.h"

namespace headroom {

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

}  // namespace headroom
