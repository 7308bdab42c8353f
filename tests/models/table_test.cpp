// SPDX-License-Identifier: Apache-2.0
#include "models/table.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "src/core/error.h"
#include "src/core/fields.h"

namespace headroom {
namespace {

using nlohmann::ordered_json;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::unique_ptr<Model> make_of_shape(const std::string& name, const InputShape& shape) {
  return find_model(name).make({.name = name}, shape, {at::kMeta, at::kFloat});
}

TEST(ModelTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const ModelEntry& entry : model_table()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_EQ(&find_model(entry.name), &entry);
  }
}

TEST(ModelTable, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  const std::string text = message_of([] { find_model("vit_xxl"); });
  for (const ModelEntry& entry : model_table()) {
    EXPECT_NE(text.find(entry.name), std::string::npos) << text;
  }
}

TEST(ModelTable, ShapesThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of([] { make_of_shape("vit_ti_16", {.image_size = 50}); }),
            "vit_ti_16 needs an image size that is a multiple of its patch, 16 pixels; it is 50");
  EXPECT_NE(message_of([] { make_of_shape("vit_h_14", {.image_size = 0}); }), "no error");
  EXPECT_EQ(message_of([] { make_of_shape("bert_mini", {.sequence_length = 513}); }),
            "bert_mini reads 1 to 512 tokens; the sequence length is 513");
  EXPECT_NE(message_of([] { make_of_shape("distilbert", {.sequence_length = 0}); }), "no error");
  EXPECT_EQ(message_of([] { make_of_shape("gpt2", {.sequence_length = 1025}); }),
            "gpt2 reads 1 to 1024 tokens; the sequence length is 1025");
  EXPECT_EQ(message_of([] { make_of_shape("bigbird_mini", {.sequence_length = 1025}); }),
            "bigbird_mini reads 1 to 1024 tokens; the sequence length is 1025");
  EXPECT_EQ(message_of([] { make_of_shape("vit_h_14", {.image_size = 28}); }), "no error");
  EXPECT_EQ(message_of([] { make_of_shape("bert_mini", {.sequence_length = 512}); }), "no error");
}

TEST(ModelTable, SaysWhetherBlocksNameTheirLayers) {
  for (const ModelEntry& entry : model_table()) {
    const auto model =
        make_of_shape(std::string(entry.name), {.image_size = 224, .sequence_length = 8});
    for (const Block& block : model->blocks()) {
      EXPECT_EQ(!block.parallel_layers.empty(), entry.names_layers) << entry.name;
    }
  }
}

std::unique_ptr<Model> make_of_size(const std::string& name, const ModelSize& size) {
  const InputShape shape{.image_size = 32, .sequence_length = 8};
  return find_model(name).make({.name = name, .size = size}, shape, {at::kMeta, at::kFloat});
}

TEST(ModelTable, EachPartOfASizeCanBeSetAlone) {
  const auto count = [](const ModelSize& size) {
    return make_of_size("gpt2", size)->parameter_count();
  };
  const std::int64_t outside = (50257 + 1024 + 2) * 768;  // of the embeddings and the last norm
  const std::int64_t block = 12 * 768 * 768 + 13 * 768;
  EXPECT_EQ(count({}), outside + 12 * block);
  EXPECT_EQ(count({.layers = 3}), outside + 3 * block);
  EXPECT_EQ(count({.heads = 6}), outside + 12 * block);
  EXPECT_EQ(count({.width = 384}), outside / 2 + 12 * (12 * 384 * 384 + 13 * 384));
}

TEST(ModelTable, SizesThatDoNotFitAreRefused) {
  const auto refusal = [](const std::string& name, const ModelSize& size) {
    return message_of([&] { make_of_size(name, size); });
  };
  for (const ModelEntry& entry : model_table()) {
    if (!entry.takes_size) continue;
    const std::string name(entry.name);
    EXPECT_EQ(refusal(name, {.width = 480, .heads = 7}),
              name + " of width 480 with 7 heads: model.width must be a multiple of model.heads");
  }
  EXPECT_EQ(refusal("gpt2", {.width = 100}),
            "gpt2 of width 100 with 12 heads: model.width must be a multiple of model.heads");
  EXPECT_EQ(refusal("llama_1b", {.heads = 2}),
            "llama_1b: model.heads must be a multiple of 4, the heads that share keys and values; "
            "it is 2");
  EXPECT_EQ(refusal("llama_mini", {.width = 60}),
            "llama_mini turns pairs of features: heads must be of even width; 60 / 4 is 15");
}

TEST(ModelOptions, AreDescribedForTheCatalog) {
  ModelOptions options;
  const ordered_json fields = describe_fields([&](Fields& f) { options.fields(f); });
  ASSERT_EQ(fields.size(), 9U);
  EXPECT_EQ(fields[0]["name"], "name");
  EXPECT_EQ(fields[0]["required"], true);
  ASSERT_EQ(fields[0]["choices"].size(), model_table().size());
  EXPECT_EQ(fields[0]["choices"][0]["summary"], model_table()[0].summary);
  EXPECT_EQ(fields[1]["max"], 100'000);
  EXPECT_EQ(fields[2]["default"], "automatic");
  EXPECT_EQ(fields[2]["choices"].size(), 7U);
  EXPECT_EQ(fields[3]["max"], 0.9);
  EXPECT_EQ(fields[5]["name"], "head");
  EXPECT_EQ(fields[6]["name"], "layers");
  EXPECT_EQ(fields[6]["default"], 0);
  std::size_t sizable = 0;
  for (const ModelEntry& entry : model_table()) sizable += entry.takes_size ? 1 : 0;
  for (std::size_t i = 6; i < 9; ++i) EXPECT_EQ(fields[i]["only_with"].size(), sizable);
}

TEST(ModelOptions, AreReadFromACase) {
  ModelOptions options;
  read_fields(
      ordered_json{
          {"name", "bert_base"}, {"num_classes", 2}, {"attention", "math"}, {"dropout", 0.1}},
      "model", [&](Fields& f) { options.fields(f); });
  EXPECT_EQ(options.name, "bert_base");
  EXPECT_EQ(options.num_classes, 2);
  EXPECT_EQ(options.attention, Attention::math);
  EXPECT_EQ(options.dropout, 0.1);
  EXPECT_EQ(options.size.layers, 0);
  read_fields(ordered_json{{"name", "gpt2"}, {"layers", 6}, {"width", 384}, {"heads", 6}}, "model",
              [&](Fields& f) { options.fields(f); });
  EXPECT_EQ(options.size.layers, 6);
  EXPECT_EQ(options.size.width, 384);
  EXPECT_EQ(options.size.heads, 6);
  EXPECT_NE(message_of([&] {
              read_fields(ordered_json{{"name", "resnet_51"}}, "model",
                          [&](Fields& f) { options.fields(f); });
            }),
            "no error");
}

TEST(ModelOptions, ThatAResnetLacksAreRefused) {
  const auto make = [](const ModelOptions& options) {
    find_model(options.name).make(options, {.image_size = 32}, {at::kMeta, at::kFloat});
  };
  EXPECT_EQ(message_of([&] { make({.name = "resnet_50", .dropout = 0.1}); }),
            "resnet_50 has no dropout; it can only be 0");
  EXPECT_EQ(message_of([&] { make({.name = "resnet_50", .attention = Attention::flash}); }),
            "resnet_50 has no attention; it can only be automatic");
  EXPECT_EQ(message_of([&] { make({.name = "resnet_50"}); }), "no error");
}

}  // namespace
}  // namespace headroom
