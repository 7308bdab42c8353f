// SPDX-License-Identifier: Apache-2.0
// Weights under the names that other libraries save them by, and a head that begins anew.
#include "models/saved_names.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "models/saved_weights.h"
#include "models/table.h"
#include "models/tensor_file.h"
#include "src/core/error.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

constexpr double kSaved = 0.5;  // of every weight in the file, and of none as it is drawn

std::unique_ptr<Model> made(const std::string& name) {
  return find_model(name).make({.name = name}, {.image_size = 32, .sequence_length = 16},
                               ParameterFactory(at::kCPU, at::kFloat));
}

/// The model's parameters under other names; what is renamed to nothing is left out.
NamedTensors saved_as(const Model& model, const std::function<std::string(std::string)>& rename) {
  NamedTensors tensors;
  for (const Parameter& parameter : model.parameters()) {
    const std::string name = rename(parameter.name);
    if (!name.empty()) tensors[name] = at::full_like(parameter.tensor.detach(), kSaved);
  }
  return tensors;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

class SavedNamesTest : public testing::Test {
 protected:
  /// Why these tensors are refused as the model's; empty: they are not.
  std::string refusal(const Model& model, const NamedTensors& tensors, Head head) {
    write_tensors(path_, tensors);
    saved_.emplace(path_);
    try {
      saved_->match(model.parameters(), model.buffers(), head);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  }

  /// Every parameter begins as saved, but the head's where that is drawn.
  void expect_matched(const Model& model, Head head) {
    for (const Parameter& parameter : model.parameters()) {
      const bool is_drawn = head == Head::drawn && is_of_head(parameter.name);
      ASSERT_EQ(saved_->has(parameter.name), !is_drawn) << parameter.name;
      if (is_drawn) continue;
      EXPECT_TRUE(saved_->read(parameter.name).eq(kSaved).all().item<bool>()) << parameter.name;
    }
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.safetensors";
  std::optional<SavedWeights> saved_;
};

// As bert-base-uncased lies on the hub of transformers.
TEST_F(SavedNamesTest, OfABertBeforeItsHeadIsTrained) {
  const auto model = made("bert_mini");
  NamedTensors tensors = saved_as(*model, [](std::string name) {
    if (is_of_head(name)) return std::string();
    name = replaced(std::move(name), "LayerNorm.weight", "LayerNorm.gamma");
    return replaced(std::move(name), "LayerNorm.bias", "LayerNorm.beta");
  });
  tensors["bert.embeddings.position_ids"] = at::zeros({1, 512}, at::kLong);
  tensors["cls.predictions.bias"] = at::zeros({30522});
  EXPECT_EQ(refusal(*model, tensors, Head::drawn), "");
  expect_matched(*model, Head::drawn);
}

// As torchvision trained it for ImageNet, and named its MLP then.
TEST_F(SavedNamesTest, OfAViTForOtherClasses) {
  const auto model = made("vit_mini");
  NamedTensors tensors = saved_as(*model, [](std::string name) {
    name = replaced(std::move(name), ".mlp.0.", ".mlp.linear_1.");
    return replaced(std::move(name), ".mlp.3.", ".mlp.linear_2.");
  });
  tensors["heads.head.weight"] = at::zeros({1000, 64});
  tensors["heads.head.bias"] = at::zeros({1000});
  EXPECT_EQ(refusal(*model, tensors, Head::drawn), "");
  expect_matched(*model, Head::drawn);
  const std::string text = refusal(*model, tensors, Head::saved);
  EXPECT_NE(text.find("heads.head.bias is (1000), not (10)"), std::string::npos) << text;
  EXPECT_NE(text.find("'model.head: new'"), std::string::npos) << text;
}

// As gpt2 lies on the hub of transformers: saved from the body alone, with its masks.
TEST_F(SavedNamesTest, OfABodyWithoutItsPrefix) {
  const auto model = made("gpt2_mini");
  NamedTensors tensors = saved_as(
      *model, [](std::string name) { return replaced(std::move(name), "transformer.", ""); });
  for (int layer = 0; layer < 4; ++layer) {
    const std::string attention = "h." + std::to_string(layer) + ".attn.";
    tensors[attention + "bias"] = at::zeros({1, 1, 8, 8});
    tensors[attention + "masked_bias"] = at::zeros({1});
  }
  EXPECT_EQ(refusal(*model, tensors, Head::saved), "");
  expect_matched(*model, Head::saved);
  const std::string text = refusal(*model, tensors, Head::drawn);
  EXPECT_NE(text.find("has no head that could begin anew"), std::string::npos) << text;
}

TEST_F(SavedNamesTest, OfALargerModelAreRefusedThoughTheHeadIsNew) {
  const auto model = made("bert_mini");
  NamedTensors tensors = saved_as(*model, [](std::string name) { return name; });
  tensors["bert.encoder.layer.4.output.dense.bias"] = at::zeros({256});
  const std::string text = refusal(*model, tensors, Head::drawn);
  EXPECT_NE(text.find("unexpected: bert.encoder.layer.4.output.dense.bias"), std::string::npos)
      << text;
}

TEST_F(SavedNamesTest, UnderTwoSpellingsAreRefused) {
  const auto model = made("bert_mini");
  NamedTensors tensors = saved_as(*model, [](std::string name) { return name; });
  tensors["bert.embeddings.LayerNorm.gamma"] = at::zeros({256});
  const std::string text = refusal(*model, tensors, Head::saved);
  EXPECT_NE(text.find("is there under another name too"), std::string::npos) << text;
}

}  // namespace
}  // namespace headroom
