// SPDX-License-Identifier: Apache-2.0
#include "techniques/mixed_precision.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>

#include <memory>
#include <utility>
#include <vector>

#include "techniques/technique.h"

namespace headroom {
namespace {

void set_autocast(const AutocastState& state) {
  at::autocast::set_autocast_enabled(state.device, state.enabled);
  at::autocast::set_autocast_dtype(state.device, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.keeps_casts);
}

constexpr double kFirstScale = 65536.0;
constexpr double kGrowth = 2.0;
constexpr double kBackoff = 0.5;
constexpr std::int64_t kGrowthInterval = 2000;

}  // namespace

AutocastState AutocastState::of_this_thread(c10::DeviceType device) {
  return {.device = device,
          .enabled = at::autocast::is_autocast_enabled(device),
          .dtype = at::autocast::get_autocast_dtype(device),
          .keeps_casts = at::autocast::is_autocast_cache_enabled()};
}

AutocastScope::AutocastScope(const AutocastState& state)
    : before_(AutocastState::of_this_thread(state.device)) {
  set_autocast(state);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  set_autocast(before_);
}

LossScaler::LossScaler(at::Device device)
    : scale_(at::full({1}, kFirstScale, at::TensorOptions().device(device).dtype(at::kFloat))),
      growth_(at::full({1}, 0, at::TensorOptions().device(device).dtype(at::kInt))),
      found_inf_(at::full({1}, 0.0, at::TensorOptions().device(device).dtype(at::kFloat))) {}

at::Tensor LossScaler::scale(const at::Tensor& loss) const { return loss.mul(scale_.squeeze()); }

void LossScaler::unscale_gradients(std::span<const at::Tensor> parameters) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  found_inf_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, scale_.reciprocal());
}

void LossScaler::adapt() {
  at::_amp_update_scale_(scale_, growth_, found_inf_, kGrowth, kBackoff, kGrowthInterval);
}

double LossScaler::current_scale() const { return scale_.item<float>(); }

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
                              !recipe.optimizer_on_host && recipe.weights_on == WeightsOn::device;
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

enum class LowPrecision { float16, bfloat16 };

/// Products run in 16 bits, sums and the loss in fp32; weights, gradients and state stay fp32. The
/// 16-bit copy of the weights lives for the length of a forward pass and, where backward needs it,
/// until then.
/// float16 comes with a loss scaler. With the fused optimizer the device decides alone whether an
/// update is skipped; with the others the host has to ask it, once an update.
class MixedPrecision final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  LowPrecision dtype_ = LowPrecision::float16;
};

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

}  // namespace

constexpr std::string_view kMixedPrecisionExcludes[] = {"bfloat16"};

extern constinit const TechniqueEntry kMixedPrecision{
    .name = "mixed_precision",
    .summary = "products in 16 bits (autocast), weights in 32; a loss scaler for float16",
    .saves = "about half of the activations; adds a 16-bit copy of the weights, 2P",
    .costs = "casts; other rounding",
    .source = "Micikevicius et al. 2018, arXiv:1710.03740; torch.autocast",
    .make = &make_technique<MixedPrecision>,
    .loss_tolerance = 2e-2,
    .gradient_tolerance = 5e-2,
    .excludes = kMixedPrecisionExcludes,
    .fit_cost = {.numerics = 1},
    .changes = "16-bit products",
};

}  // namespace headroom
