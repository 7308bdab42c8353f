// SPDX-License-Identifier: Apache-2.0
#include "models/inspect.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "models/table.h"
#include "models/tensor_file.h"
#include "src/core/error.h"
#include "tests/models/golden.h"

namespace headroom {
namespace {

TEST(Inspect, TellsWhatAModelIsMadeOf) {
  const auto model =
      find_model("vit_ti_16")
          .make({.name = "vit_ti_16"}, {.image_size = 224}, {at::kMeta, at::kBFloat16});
  const nlohmann::ordered_json result = inspect(*model);
  EXPECT_EQ(result["parameter_count"], 5'526'346);
  EXPECT_EQ(result["parameter_bytes"], 2 * 5'526'346);
  EXPECT_EQ(result["parameters"].size(), 152U);
  EXPECT_EQ(result["parameters"][0].dump(),
            R"({"name":"class_token","shape":[1,1,192],"dtype":"bfloat16","bytes":384})");
  ASSERT_EQ(result["blocks"].size(), 12U);
  const nlohmann::ordered_json& last = result["blocks"][11];
  EXPECT_EQ(last["parameters"].size(), 12U);
  EXPECT_EQ(last["parameters"][0], "encoder.layers.encoder_layer_11.ln_1.weight");
  // 12 D^2 weights and 13 D biases and gains, D = 192.
  EXPECT_EQ(last["parameter_count"], 12 * 192 * 192 + 13 * 192);
  EXPECT_EQ(last["parameter_bytes"], 2 * (12 * 192 * 192 + 13 * 192));
}

class Forward : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name + ".safetensors"; }

  ForwardRequest request(const std::string& model, std::int64_t classes) const {
    // Dropout is asked for, to see that there is none.
    return {.model = {.name = model,
                      .num_classes = classes,
                      .attention = Attention::math,
                      .dropout = 0.5},
            .weights = path("weights"),
            .inputs = path("inputs"),
            .output = path("output")};
  }

  /// Runs the model of a "parity" entry with the weights and inputs of the script.
  at::Tensor run(const nlohmann::json& entry, const NamedTensors& inputs) const {
    const auto model = make_golden_model(entry, {});
    fill_by_hash(*model);
    NamedTensors weights;
    for (const auto& [name, tensor] : model->parameters()) weights[name] = tensor;
    write_tensors(path("weights"), weights);
    write_tensors(path("inputs"), inputs);
    forward(request(entry.at("model"), entry.at("num_classes")));
    const NamedTensors output = read_tensors(path("output"));
    EXPECT_EQ(output.size(), 1U);
    return output.at("logits");
  }

  std::string refusal(const std::string& model, const NamedTensors& inputs) const {
    write_tensors(path("inputs"), inputs);
    try {
      forward(request(model, 2));
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(path("inputs").size());
    }
    return "no error";
  }

  const std::string folder_ = testing::TempDir() + "forward" + std::to_string(::getpid());
};

const nlohmann::json& parity(const std::string& model, bool padded) {
  for (const nlohmann::json& entry : golden().at("parity")) {
    if (entry.at("model") == model && entry.at("padded") == padded && !entry.contains("size")) {
      return entry;
    }
  }
  throw std::invalid_argument(model);
}

void expect_logits(const at::Tensor& logits, const nlohmann::json& expected) {
  EXPECT_EQ(logits.scalar_type(), at::kFloat);
  for (std::int64_t b = 0; b < logits.size(0); ++b) {
    for (std::int64_t c = 0; c < logits.size(1); ++c) {
      EXPECT_NEAR(logits[b][c].item<double>(), expected.at(b).at(c).get<double>(), 1e-5);
    }
  }
}

TEST_F(Forward, ImagesGiveTheLogitsOfTheReference) {
  const nlohmann::json& entry = parity("vit_ti_16", false);
  const at::Tensor images = make_golden_batch(entry).inputs.to(at::kFloat);
  expect_logits(run(entry, {{"images", images}}), entry.at("logits"));
}

TEST_F(Forward, TextsGiveTheLogitsOfTheReference) {
  for (const bool padded : {false, true}) {
    const nlohmann::json& entry = parity("bert_mini", padded);
    const Batch batch = make_golden_batch(entry);
    const at::Tensor mask = padded ? batch.attention_mask : at::ones_like(batch.inputs);
    expect_logits(run(entry, {{"input_ids", batch.inputs}, {"attention_mask", mask}}),
                  entry.at("logits"));
  }
}

TEST_F(Forward, EachTokenGetsTheLogitsOfTheReference) {
  for (const char* model : {"gpt2_mini", "llama_mini"}) {
    for (const bool padded : {false, true}) {
      const nlohmann::json& entry = parity(model, padded);
      const Batch batch = make_golden_batch(entry);
      const at::Tensor mask = padded ? batch.attention_mask : at::ones_like(batch.inputs);
      const at::Tensor logits = run(entry, {{"input_ids", batch.inputs}, {"attention_mask", mask}});
      expect_logits(golden_logits(logits), entry.at("logits"));
    }
  }
}

TEST_F(Forward, InputsThatDoNotFitAreRefused) {
  const at::Tensor ids = at::arange(6).view({2, 3});
  EXPECT_EQ(refusal("vit_ti_16", {{"input_ids", ids}}), ": unexpected 'input_ids'");
  EXPECT_EQ(refusal("vit_ti_16", {}), ": there is no 'images'");
  EXPECT_EQ(refusal("vit_ti_16", {{"images", at::ones({2, 3, 32, 32}, at::kDouble)}}),
            ": 'images' must be Float");
  EXPECT_EQ(refusal("vit_ti_16", {{"images", at::ones({3, 32, 32})}}),
            ": 'images' must have 4 dimensions");
  EXPECT_EQ(refusal("vit_ti_16", {{"images", at::ones({2, 1, 32, 32})}}),
            ": 'images' must have 3 channels: (B, 3, H, W)");
  EXPECT_EQ(refusal("vit_ti_16", {{"images", at::ones({2, 3, 32, 64})}}),
            ": 'images' must be square");
  EXPECT_EQ(refusal("vit_ti_16", {{"images", at::ones({0, 3, 32, 32})}}), ": 'images' is empty");
  EXPECT_EQ(refusal("bert_mini", {{"input_ids", ids.sub(1)}}),
            ": 'input_ids' must lie in 0 to 30521");
  EXPECT_EQ(refusal("bert_mini", {{"input_ids", ids.add(30522)}}),
            ": 'input_ids' must lie in 0 to 30521");
  EXPECT_EQ(refusal("gpt2_mini", {{"input_ids", ids.add(50257)}}),
            ": 'input_ids' must lie in 0 to 50256");
  EXPECT_EQ(refusal("bert_mini", {{"input_ids", ids}, {"attention_mask", ids.t().contiguous()}}),
            ": 'attention_mask' must have the shape of 'input_ids'");
  EXPECT_EQ(refusal("bert_mini", {{"input_ids", ids}, {"attention_mask", ids}}),
            ": 'attention_mask' must be 0 or 1");
  EXPECT_EQ(refusal("bert_mini", {{"input_ids", ids}, {"attention_mask", ids.gt(2).to(at::kLong)}}),
            ": 'attention_mask' leaves a text without any token");
}

}  // namespace
}  // namespace headroom
