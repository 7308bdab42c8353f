// SPDX-License-Identifier: Apache-2.0
#include "techniques/mixed_precision.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/techniques/training.h"

namespace headroom {
namespace {

at::Tensor parameter_with_gradient(float value) {
  const at::Tensor parameter = at::full({3}, 1.0F).requires_grad_();
  at::Tensor(parameter).mutable_grad() = at::full({3}, value);
  return parameter;
}

TEST(LossScalerTest, ScalesAndUnscales) {
  LossScaler scaler(at::kCPU);
  EXPECT_EQ(scaler.current_scale(), 65536.0);
  EXPECT_EQ(scaler.scale(at::full({}, 0.5F)).item<float>(), 32768.0F);
  const std::vector<at::Tensor> parameters{parameter_with_gradient(65536.0F),
                                           at::full({2}, 1.0F).requires_grad_()};  // no gradient
  scaler.unscale_gradients(parameters);
  EXPECT_EQ(scaler.found_inf().item<float>(), 0.0F);
  EXPECT_TRUE(at::equal(parameters[0].grad(), at::full({3}, 1.0F)));
}

TEST(LossScalerTest, HalvesAfterAnOverflowOnly) {
  LossScaler scaler(at::kCPU);
  const std::vector<at::Tensor> good{parameter_with_gradient(1.0F)};
  for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const double before = scaler.current_scale();
    const std::vector<at::Tensor> bad{parameter_with_gradient(1.0F),
                                      parameter_with_gradient(value)};
    scaler.unscale_gradients(bad);
    EXPECT_GT(scaler.found_inf().item<float>(), 0.0F);
    scaler.adapt();
    EXPECT_EQ(scaler.current_scale(), before / 2);
    scaler.unscale_gradients(good);  // an overflow is forgotten
    EXPECT_EQ(scaler.found_inf().item<float>(), 0.0F);
    scaler.adapt();
    EXPECT_EQ(scaler.current_scale(), before / 2);
  }
}

TEST(LossScalerTest, DoublesAfter2000GoodUpdates) {
  LossScaler scaler(at::kCPU);
  for (int i = 0; i < 1999; ++i) scaler.adapt();
  EXPECT_EQ(scaler.current_scale(), 65536.0);
  scaler.adapt();
  EXPECT_EQ(scaler.current_scale(), 131072.0);
}

/// Makes a gradient of the first update infinite, and keeps the losses that reach backward.
class Overflow final : public Technique {
 public:
  explicit Overflow(std::vector<double>& losses) : losses_(losses) {}
  void wrap_step(Step& step, const Recipe&) const override {
    step.backward = [this, inner = std::move(step.backward)](const at::Tensor& loss) {
      losses_.push_back(loss.item<double>());
      inner(loss);
    };
    step.gradient_ready = [&step, inner = std::move(step.gradient_ready)](std::size_t index) {
      inner(index);
      if (step.evidence.steps > 0 || index > 0) return;
      at::Tensor(step.trained[index].grad()).fill_(std::numeric_limits<float>::infinity());
    };
  }
  std::string why_inactive(const Evidence&, const Recipe&) const override { return {}; }

 private:
  std::vector<double>& losses_;
};

/// The text model, since vit_ti_16 overflows by itself at the first scale, as many models do; with
/// few tokens, since products in fp16 are slow on a CPU.
Json short_text() {
  Json values = small_bert();
  values["data"]["sequence_length"] = 4;
  return values;
}

Json half_precision(const std::string& implementation) {
  Json values = with(short_text(), {technique("mixed_precision", {{"dtype", "float16"}})});
  values["train"]["optimizer"]["implementation"] = implementation;
  return values;
}

void expect_overflow_to_skip(const Json& values) {
  SCOPED_TRACE(values.dump());
  std::vector<double> scaled;
  const Trained first = train(values, 1, std::make_unique<Overflow>(scaled));
  const Trained start = train(values, 0);
  EXPECT_EQ(weight_distance(first, start), 0.0);
  EXPECT_EQ(first.gradient_norm, 0.0);                       // no number that JSON could not hold
  EXPECT_GT(weight_distance(train(values, 1), start), 0.0);  // but for the overflow

  scaled.clear();
  const Trained two = train(values, 2, std::make_unique<Overflow>(scaled));
  EXPECT_GT(weight_distance(two, start), 0.0);
  ASSERT_EQ(scaled.size(), 2U);
  EXPECT_EQ(scaled[0], 65536.0 * two.losses[0]);
  EXPECT_EQ(scaled[1], 32768.0 * two.losses[1]);
}

TEST(MixedPrecisionTest, AnOverflowSkipsTheUpdateAndHalvesTheScale) {
  for (const char* implementation : {"multi_tensor", "fused"}) {
    expect_overflow_to_skip(half_precision(implementation));
  }
  expect_overflow_to_skip(with(half_precision("fused"), {technique("optimizer_offload")}));
}

TEST(MixedPrecisionTest, Float16TrainsNearFloat32) {
  const Trained half = train(half_precision("multi_tensor"), 2);
  const Trained full = train(short_text(), 2);
  EXPECT_EQ(half.inactive, "");
  EXPECT_LE(loss_distance(half, full), 2e-2);
  EXPECT_LE(gradient_distance(half, full), 5e-2);  // unscaled
}

// The length of SGD's first step at a rate of 1 is the norm to which gradients were clipped: of the
// scaled ones it would be 65,536 times too small.
TEST(MixedPrecisionTest, ClipsUnscaledGradients) {
  Json values = half_precision("multi_tensor");
  values["train"]["optimizer"] = {{"name", "sgd"}, {"lr", 1.0}};
  values["train"]["max_gradient_norm"] = 0.25;
  const Trained one = train(values, 1);
  const Trained start = train(values, 0);
  EXPECT_GT(one.gradient_norm, 0.5);  // clipping has something to do
  double sum = 0.0;
  for (std::size_t i = 0; i < one.weights.size(); ++i) {
    sum += one.weights[i].sub(start.weights[i]).to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(std::sqrt(sum), 0.25, 1e-4);
}

}  // namespace
}  // namespace headroom
