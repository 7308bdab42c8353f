// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "models/table.h"
#include "tests/models/golden.h"

namespace headroom {
namespace {

constexpr std::int64_t kSamples = 4;  // B
constexpr std::int64_t kClasses = 5;
constexpr InputShape kShape{.image_size = 32, .sequence_length = 8};

std::unique_ptr<Model> make_small_model(const std::string& name, double dropout = 0.0,
                                        at::ScalarType dtype = at::kFloat) {
  at::manual_seed(3);
  const ModelOptions options{
      .name = name, .num_classes = kClasses, .attention = Attention::eager, .dropout = dropout};
  return find_model(name).make(options, kShape, {at::kCPU, dtype});
}

Batch random_batch(const std::string& name) {
  at::manual_seed(5);
  const bool text = find_model(name).input == InputKind::text;
  return {.inputs = text ? at::randint(30522, {kSamples, kShape.sequence_length}, at::kLong)
                         : at::randn({kSamples, 3, kShape.image_size, kShape.image_size}),
          .attention_mask = {},
          .labels = at::randint(kClasses, {kSamples}, at::kLong)};
}

/// transformers' BigBird has a pooler, whose output its classifier does not read.
bool is_read(const Parameter& parameter) {
  return parameter.name != "bert.pooler.weight" && parameter.name != "bert.pooler.bias";
}

void descend(Model& model, double rate) {
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor weight = parameter.tensor;
    if (!is_read(parameter)) continue;
    weight.sub_(weight.grad(), rate);
    weight.mutable_grad().reset();
  }
}

// The smallest model of each kind; the larger ones are the same code.
class ModelTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, ModelTest,
                         testing::Values("vit_ti_16", "bert_mini", "distilbert", "bigbird_mini",
                                         "gpt2_mini", "llama_mini"),
                         [](const auto& test) { return test.param; });

TEST_P(ModelTest, LearnsABatch) {
  const auto model = make_small_model(GetParam());
  const Batch batch = random_batch(GetParam());
  std::vector<double> losses;
  for (int step = 0; step < 16; ++step) {
    const at::Tensor loss = model->loss(batch);
    ASSERT_EQ(loss.dim(), 0);
    losses.push_back(loss.item<double>());
    ASSERT_TRUE(std::isfinite(losses.back()));
    loss.backward();
    descend(*model, 0.02);
  }
  EXPECT_LT(losses.back(), 0.9 * losses.front());
}

TEST_P(ModelTest, TrainsInBfloat16WithALossInFloat32) {
  const auto model = make_small_model(GetParam(), 0.0, at::kBFloat16);
  const Batch batch = random_batch(GetParam());
  EXPECT_EQ(model->logits(batch).scalar_type(), at::kBFloat16);
  const at::Tensor loss = model->loss(batch);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_NEAR(loss.item<double>(), make_small_model(GetParam())->loss(batch).item<double>(), 0.05);
  loss.backward();
  for (const Parameter& parameter : model->parameters()) {
    if (!is_read(parameter)) continue;
    ASSERT_EQ(parameter.tensor.grad().scalar_type(), at::kBFloat16);
    EXPECT_TRUE(parameter.tensor.grad().isfinite().all().item<bool>()) << parameter.name;
  }
}

TEST_P(ModelTest, DropsOnlyWhileTraining) {
  const auto model = make_small_model(GetParam(), 0.3);
  const auto plain = make_small_model(GetParam());
  fill_by_hash(*model);
  fill_by_hash(*plain);
  const Batch batch = random_batch(GetParam());
  EXPECT_FALSE(model->logits(batch).equal(model->logits(batch)));
  model->set_training(false);
  EXPECT_TRUE(model->logits(batch).equal(plain->logits(batch)));
}

TEST_P(ModelTest, BlocksRunInOrderAndKeepTheShape) {
  const auto model = make_small_model(GetParam());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < model->blocks().size(); ++i) {
    Block& block = model->blocks()[i];
    block.run = [&order, i, run = block.run](const at::Tensor& x) {
      order.push_back(i);
      at::Tensor result = run(x);
      EXPECT_EQ(result.sizes(), x.sizes());
      EXPECT_EQ(x.dim(), 3);
      EXPECT_EQ(x.size(0), kSamples);
      return result;
    };
  }
  EXPECT_TRUE(model->logits(random_batch(GetParam()))
                  .equal(make_small_model(GetParam())->logits(random_batch(GetParam()))));
  ASSERT_EQ(order.size(), model->blocks().size());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(ModelTest, ABlocksParametersAreThoseThatItReads) {
  const auto model = make_small_model(GetParam());
  fill_by_hash(*model);
  Block& skipped = model->blocks()[1];
  skipped.run = [](const at::Tensor& x) { return x; };
  model->loss(random_batch(GetParam())).backward();
  for (const Parameter& parameter : model->parameters()) {
    const bool reads =
        std::any_of(skipped.parameters.begin(), skipped.parameters.end(),
                    [&](const at::Tensor& tensor) { return tensor.is_same(parameter.tensor); });
    EXPECT_EQ(parameter.tensor.grad().defined(), !reads && is_read(parameter)) << parameter.name;
  }
}

// The shapes of what is dropped from while this lives, in order.
class DropoutWatch {
 public:
  DropoutWatch() {
    seen.clear();
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&observe).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~DropoutWatch() { at::removeCallback(handle_); }
  DropoutWatch(const DropoutWatch&) = delete;
  DropoutWatch& operator=(const DropoutWatch&) = delete;

  static inline std::vector<std::vector<std::int64_t>> seen;

 private:
  static std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& function) {
    if (std::string(function.name()) == "aten::dropout" && function.inputs()[1].toDouble() > 0.0) {
      seen.push_back(function.inputs()[0].toTensor().sizes().vec());
      EXPECT_EQ(function.inputs()[1].toDouble(), 0.1);
    }
    return nullptr;
  }

  at::CallbackHandle handle_;
};

TEST(Dropout, StandsWhereTheReferencesHaveIt) {
  for (const nlohmann::json& entry : golden().at("dropouts")) {
    const ModelOptions options{.name = entry.at("model").get<std::string>(),
                               .num_classes = entry.at("num_classes").get<std::int64_t>(),
                               .attention = Attention::eager,
                               .dropout = 0.1};
    const InputShape shape{.image_size = entry.at("image_size").get<std::int64_t>(),
                           .sequence_length = entry.at("tokens").get<std::int64_t>()};
    const auto model = find_model(options.name).make(options, shape, {at::kCPU, at::kFloat});
    const Batch batch = make_golden_batch(entry);
    const DropoutWatch watch;
    model->logits(batch);
    EXPECT_EQ(nlohmann::json(DropoutWatch::seen), entry.at("shapes")) << options.name;
  }
}

class DecoderTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, DecoderTest, testing::Values("gpt2_mini", "llama_mini"),
                         [](const auto& test) { return test.param; });

TEST_P(DecoderTest, TellsEachTokenFromThoseBeforeItAlone) {
  const auto model = make_small_model(GetParam());
  const Batch batch = random_batch(GetParam());
  const at::Tensor targets = model->targets(batch);  // (B, T)
  const std::int64_t tokens = kShape.sequence_length;
  EXPECT_TRUE(targets.narrow(1, 0, tokens - 1).equal(batch.inputs.narrow(1, 1, tokens - 1)));
  EXPECT_TRUE(targets.select(1, tokens - 1).eq(kNoTarget).all().item<bool>());
  Batch other = batch;
  other.inputs = batch.inputs.clone();
  other.inputs.select(1, 5).add_(1);
  const at::Tensor logits = model->logits(batch);  // (B, T, V)
  const at::Tensor changed = model->logits(other);
  EXPECT_TRUE(changed.narrow(1, 0, 5).equal(logits.narrow(1, 0, 5)));
  for (std::int64_t token = 5; token < tokens; ++token) {
    EXPECT_FALSE(changed.select(1, token).equal(logits.select(1, token))) << token;
  }
}

// torchvision's vision_transformer.py, and _init_weights() of transformers' models.
TEST(InitialWeights, AreAsLargeAsThoseOfTheReferences) {
  constexpr double kPatch = 3 * 16 * 16;
  constexpr double kWidth = 192;                // of vit_ti_16
  const double uniform = 1.0 / std::sqrt(3.0);  // of numbers from -1 to 1
  const std::string layer = "encoder.layers.encoder_layer_0.";
  const std::vector<std::tuple<std::string, std::string, double>> deviations = {
      {"vit_ti_16", "conv_proj.weight", std::sqrt(1.0 / kPatch)},
      {"vit_ti_16", "encoder.pos_embedding", 0.02},
      {"vit_ti_16", layer + "self_attention.in_proj_weight",
       std::sqrt(6.0 / (4 * kWidth)) * uniform},
      {"vit_ti_16", layer + "self_attention.out_proj.weight", std::sqrt(1.0 / kWidth) * uniform},
      {"vit_ti_16", layer + "mlp.0.weight", std::sqrt(6.0 / (5 * kWidth)) * uniform},
      {"gpt2_mini", "transformer.wte.weight", 0.02},
      {"gpt2_mini", "transformer.h.0.attn.c_attn.weight", 0.02},
      {"gpt2_mini", "transformer.h.3.attn.c_proj.weight", 0.02 / std::sqrt(2.0 * 4)},
      {"gpt2_mini", "transformer.h.3.mlp.c_proj.weight", 0.02 / std::sqrt(2.0 * 4)},
      {"llama_mini", "model.embed_tokens.weight", 0.02},
      {"llama_mini", "model.layers.3.self_attn.k_proj.weight", 0.02},
      {"llama_mini", "model.layers.3.mlp.down_proj.weight", 0.02},
      {"bert_mini", "bert.encoder.layer.0.output.dense.weight", 0.02},
      {"distilbert", "distilbert.transformer.layer.0.ffn.lin1.weight", 0.02}};
  for (const auto& [name, parameter, deviation] : deviations) {
    const auto model = make_small_model(name);
    const auto parameters = model->parameters();
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter& each) { return each.name == parameter; });
    ASSERT_NE(found, parameters.end()) << parameter;
    EXPECT_NEAR(found->tensor.std().item<double>(), deviation, 0.05 * deviation) << parameter;
  }
}

// Under a head of zeros, as a new ViT of torchvision's has, nothing but the head has a gradient at
// first, and the first loss says nothing of the rest.
TEST(Vit, BeginsWithAHeadAsALinearLayerBegins) {
  const auto model = make_small_model("vit_ti_16");
  for (const Parameter& parameter : model->parameters()) {
    if (parameter.name != "heads.head.weight") continue;
    const double bound = 1.0 / std::sqrt(192.0);
    EXPECT_LE(parameter.tensor.abs().max().item<double>(), bound);
    EXPECT_NEAR(parameter.tensor.std().item<double>(), bound / std::sqrt(3.0), 0.1 * bound);
  }
  model->loss(random_batch("vit_ti_16")).backward();
  EXPECT_GT(model->parameters().front().tensor.grad().norm().item<double>(), 0.0);
}

Batch four_texts() {
  return {.inputs = at::arange(12).view({4, 3}),
          .attention_mask = at::arange(12).view({4, 3}).remainder(2),
          .labels = at::arange(4)};
}

TEST(Batch, SlicesAreViews) {
  const Batch batch = four_texts();
  const Batch part = batch.slice(1, 2);
  EXPECT_EQ(part.size(), 2);
  EXPECT_TRUE(part.inputs.equal(batch.inputs.narrow(0, 1, 2)));
  EXPECT_TRUE(part.attention_mask.equal(batch.attention_mask.narrow(0, 1, 2)));
  EXPECT_TRUE(part.labels.equal(batch.labels.narrow(0, 1, 2)));
  EXPECT_TRUE(part.inputs.is_alias_of(batch.inputs));
}

TEST(Batch, MovesAllThereIs) {
  const Batch moved = four_texts().to(at::kMeta);
  EXPECT_TRUE(moved.inputs.is_meta());
  EXPECT_TRUE(moved.attention_mask.is_meta());
  EXPECT_TRUE(moved.labels.is_meta());
}

TEST(Batch, WhatIsUndefinedStaysSo) {
  const Batch images{.inputs = at::arange(12).view({4, 3}), .attention_mask = {}, .labels = {}};
  for (const Batch& batch : {images.slice(0, 1), images.to(at::kCPU)}) {
    EXPECT_TRUE(batch.inputs.defined());
    EXPECT_FALSE(batch.attention_mask.defined());
    EXPECT_FALSE(batch.labels.defined());
  }
}

}  // namespace
}  // namespace headroom
