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
  EXPECT_EQ(message_of([] { make_of_shape("vit_h_14", {.image_size = 28}); }), "no error");
  EXPECT_EQ(message_of([] { make_of_shape("bert_mini", {.sequence_length = 512}); }), "no error");
}

TEST(ModelOptions, AreDescribedForTheCatalog) {
  ModelOptions options;
  const ordered_json fields = describe_fields([&](Fields& f) { options.fields(f); });
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0]["name"], "name");
  EXPECT_EQ(fields[0]["required"], true);
  ASSERT_EQ(fields[0]["choices"].size(), model_table().size());
  EXPECT_EQ(fields[0]["choices"][0]["summary"], model_table()[0].summary);
  EXPECT_EQ(fields[1]["max"], 100'000);
  EXPECT_EQ(fields[2]["default"], "automatic");
  EXPECT_EQ(fields[2]["choices"].size(), 7U);
  EXPECT_EQ(fields[3]["max"], 0.9);
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
