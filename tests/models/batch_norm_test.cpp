// SPDX-License-Identifier: Apache-2.0
// What a model keeps of its batches while it trains, and blocks that hand on images.
#include "models/batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/table.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::int64_t kMiniSamples = 4;  // B
constexpr std::int64_t kMiniSide = 64;    // H = W

std::unique_ptr<Model> make_mini(at::ScalarType dtype = at::kFloat) {
  at::manual_seed(3);
  return find_model("resnet_mini")
      .make({.name = "resnet_mini"}, {.image_size = kMiniSide}, {at::kCPU, dtype});
}

Batch random_images(std::int64_t image_size = kMiniSide) {
  at::manual_seed(5);
  return {.inputs = at::randn({kMiniSamples, 3, image_size, image_size}),
          .attention_mask = {},
          .labels = at::randint(10, {kMiniSamples}, at::kLong)};
}

std::vector<at::Tensor> copies_of(const Model& model) {
  std::vector<at::Tensor> copies;
  for (const Buffer& buffer : model.buffers()) copies.push_back(buffer.tensor.clone());
  return copies;
}

/// Whether its buffers are those.
bool has(const Model& model, const std::vector<at::Tensor>& buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!model.buffers()[i].tensor.equal(buffers[i])) return false;
  }
  return true;
}

TEST(BatchNorm, KeepsStatisticsOnlyWhileTraining) {
  const auto model = make_mini();
  const auto before = copies_of(*model);
  model->set_training(false);
  model->logits(random_images());
  EXPECT_TRUE(has(*model, before));
  model->set_training(true);
  model->logits(random_images());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(model->buffers()[i].tensor.equal(before[i])) << model->buffers()[i].name;
  }
}

TEST(BatchNorm, InEvaluationASampleIsJudgedAlone) {
  const auto model = make_mini();
  const Batch batch = random_images();
  const at::Tensor together = model->logits(batch);
  EXPECT_FALSE(together.narrow(0, 0, 2).allclose(model->logits(batch.slice(0, 2)), 1e-2));
  model->set_training(false);
  const at::Tensor of_all = model->logits(batch);
  EXPECT_TRUE(of_all.narrow(0, 0, 2).allclose(model->logits(batch.slice(0, 2)), 1e-4, 1e-5));
}

TEST(BatchNorm, WhatRunsAgainCountsOnceAndGivesTheSame) {
  const auto model = make_mini();
  const Batch batch = random_images();
  const at::Tensor first = model->logits(batch);
  const auto kept = copies_of(*model);
  {
    const StatisticsStay outer;
    { const StatisticsStay inner; }
    EXPECT_TRUE(model->logits(batch).equal(first));
    EXPECT_TRUE(has(*model, kept));
  }
  model->logits(batch);
  EXPECT_FALSE(has(*model, kept));
}

TEST(BatchNorm, CountsInIntegersWhereWeightsAreNarrow) {
  const auto model = make_mini(at::kBFloat16);
  model->logits(random_images());
  for (const Buffer& buffer : model->buffers()) {
    const bool counts = buffer.name.ends_with("num_batches_tracked");
    EXPECT_EQ(buffer.tensor.scalar_type(), counts ? at::kLong : at::kBFloat16) << buffer.name;
    EXPECT_TRUE(!counts || buffer.tensor.item<std::int64_t>() == 1);
  }
}

TEST(BatchNorm, OneSampleOfOnePixelHasNoVariance) {
  const auto model = make_mini();
  const Batch batch = random_images(/*image_size=*/32).slice(0, 1);
  EXPECT_THROW(model->logits(batch), ConfigError);
  model->set_training(false);
  EXPECT_TRUE(model->logits(batch).isfinite().all().item<bool>());
}

TEST(Resnet, BlocksRunInOrderAndHandOnImages) {
  const auto model = make_mini();
  std::vector<std::vector<std::int64_t>> shapes;
  for (Block& block : model->blocks()) {
    block.run = [&shapes, run = block.run](const at::Tensor& x) {
      at::Tensor y = run(x);
      shapes.push_back(y.sizes().vec());
      return y;
    };
  }
  model->logits(random_images());
  const std::vector<std::vector<std::int64_t>> expected = {
      {kMiniSamples, 32, 16, 16}, {kMiniSamples, 32, 16, 16}, {kMiniSamples, 64, 8, 8},
      {kMiniSamples, 64, 8, 8},   {kMiniSamples, 128, 4, 4},  {kMiniSamples, 256, 2, 2}};
  EXPECT_EQ(shapes, expected);
}

// torchvision's resnet.py: kaiming_normal_ by the fan out; torch.nn.Linear.
TEST(Resnet, BeginsAsTheReferenceDoes) {
  const auto model =
      find_model("resnet_50")
          .make({.name = "resnet_50"}, {.image_size = kMiniSide}, {at::kCPU, at::kFloat});
  const auto deviation_of = [&](const std::string& name) {
    for (const Parameter& p : model->parameters()) {
      if (p.name == name) return p.tensor.std().item<double>();
    }
    return -1.0;
  };
  const auto expect = [&](const std::string& name, double deviation) {
    EXPECT_NEAR(deviation_of(name), deviation, 0.02 * deviation) << name;
  };
  expect("conv1.weight", std::sqrt(2.0 / (64 * 7 * 7)));
  expect("layer1.0.downsample.0.weight", std::sqrt(2.0 / 256));
  expect("layer4.0.conv2.weight", std::sqrt(2.0 / (512 * 3 * 3)));
  expect("fc.weight", 1.0 / std::sqrt(2048.0) / std::sqrt(3.0));
  EXPECT_EQ(deviation_of("layer1.0.bn3.weight"), 0.0);  // ones: zero_init_residual is false
}

TEST(Resnet, LearnsABatch) {
  const auto model = make_mini();
  const Batch batch = random_images();
  std::vector<double> losses;
  for (int step = 0; step < 5; ++step) {
    const at::Tensor loss = model->loss(batch);
    losses.push_back(loss.item<double>());
    loss.backward();
    const at::NoGradGuard no_grad;
    for (const Parameter& parameter : model->parameters()) {
      at::Tensor weight = parameter.tensor;
      weight.sub_(weight.grad(), 0.02);
      weight.mutable_grad().reset();
    }
  }
  EXPECT_LT(losses.back(), 0.9 * losses.front());
}

}  // namespace
}  // namespace headroom
