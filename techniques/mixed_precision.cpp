// SPDX-License-Identifier: Apache-2.0
#include "techniques/mixed_precision.h"

#include <memory>
#include <utility>

#include "techniques/autocast.h"
#include "techniques/loss_scaler.h"

namespace headroom {
namespace {

void scale_losses(Step& step, const Recipe& recipe) {
  const auto scaler = std::make_shared<LossScaler>(step.trained.front().device());
  step.backward = [scaler, inner = std::move(step.backward)](const at::Tensor& loss) {
    inner(scaler->scale(loss));
  };
  step.finish_gradients = [scaler, &step, inner = std::move(step.finish_gradients)] {
    scaler->unscale_gradients(step.trained);
    // All ranks skip a step, or none: each may hold another part of the gradients.
    if (step.group != nullptr) {
      step.group->sum(scaler->found_inf());
      scaler->found_inf().clamp_max_(1.0);  // the fused updates skip at 1, not above
    }
    inner();  // clipping reads the true norm
  };
  const bool device_decides = recipe.optimizer.implementation == Implementation::fused &&
                              !recipe.optimizer_on_host && !recipe.offloads_weights;
  step.update = [scaler, &step, device_decides] {
    step.optimizer->begin_step();
    if (device_decides) {
      step.optimizer->update_all(scaler->found_inf());
    } else if (scaler->found_inf().item<float>() > 0.0F) {
      step.optimizer->skip_step();
    } else {
      step.optimizer->update_all();
    }
    scaler->adapt();
  };
}

}  // namespace

void MixedPrecision::fields(Fields& f) { f.choice({"dtype", "of the products"}, dtype_); }

void MixedPrecision::edit_recipe(Recipe& recipe) const {
  recipe.autocast = dtype_ == LowPrecision::float16 ? at::kHalf : at::kBFloat16;
}

void MixedPrecision::wrap_step(Step& step, const Recipe& recipe) const {
  const AutocastState state = recipe.autocast_state();
  step.forward = [state, inner = std::move(step.forward)](const Batch& batch) {
    const AutocastScope autocast(state);
    return inner(batch);
  };
  if (dtype_ == LowPrecision::float16) scale_losses(step, recipe);
}

std::string MixedPrecision::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.low_precision_flops > 0) return {};
  return "no product ran in 16 bits";
}

}  // namespace headroom
