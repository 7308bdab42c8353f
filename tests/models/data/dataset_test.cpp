// SPDX-License-Identifier: Apache-2.0
#include "models/data/dataset.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

#include "models/data/random.h"
#include "src/core/error.h"
#include "src/core/fields.h"

namespace headroom {
namespace {

constexpr std::int64_t kSeed = 123;

std::unique_ptr<Dataset> make(const DataOptions& options, std::int64_t seed = kSeed) {
  return find_data(options.name).make(options, 10, seed);
}

std::vector<std::int64_t> all(std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// The bytes of each sample of a batch.
std::vector<std::string> samples(const Batch& batch) {
  std::vector<std::string> bytes;
  for (std::int64_t i = 0; i < batch.inputs.size(0); ++i) {
    const at::Tensor sample = batch.inputs.select(0, i).contiguous();
    bytes.emplace_back(static_cast<const char*>(sample.const_data_ptr()), sample.nbytes());
  }
  return bytes;
}

TEST(Digits, SplitsAllSamplesIntoTwoParts) {
  const auto digits = make({.name = "digits", .image_size = 8});
  ASSERT_EQ(digits->train_size(), 1500);
  ASSERT_EQ(digits->held_out_size(), 297);
  const Batch train = digits->train(all(1500));
  const Batch held_out = digits->held_out(all(297));

  // No two of the 1,797 images are equal, so equal bytes would be a sample in both parts.
  std::set<std::string> seen;
  for (const Batch* batch : {&train, &held_out}) {
    for (const std::string& sample : samples(*batch)) EXPECT_TRUE(seen.insert(sample).second);
  }
  EXPECT_EQ(seen.size(), 1797U);

  // As many of each class as the source says of its whole.
  const at::Tensor labels = at::cat({train.labels, held_out.labels});
  const std::array<std::int64_t, 10> expected = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (std::int64_t digit = 0; digit < 10; ++digit) {
    EXPECT_EQ(labels.eq(digit).sum().item<std::int64_t>(), expected[digit]) << digit;
    EXPECT_GT(held_out.labels.eq(digit).sum().item<std::int64_t>(), 15) << digit;
  }
}

TEST(Digits, ReadsTheFirstImageOfTheSource) {
  // The first line of the source is a 0; where the split put it follows from its definition.
  const std::vector<std::int64_t> order = shuffled(1797, 0);
  const std::int64_t at = std::find(order.begin(), order.end(), 0) - order.begin();
  const auto digits = make({.name = "digits", .image_size = 8});
  const std::array indices = {at < 1500 ? at : at - 1500};
  const Batch batch = at < 1500 ? digits->train(indices) : digits->held_out(indices);

  const std::array<float, 64> pixels = {0, 0, 5,  13, 9,  1,  0, 0, 0, 0, 13, 15, 10, 15, 5, 0,
                                        0, 3, 15, 2,  0,  11, 8, 0, 0, 4, 12, 0,  0,  8,  8, 0,
                                        0, 5, 8,  0,  0,  9,  8, 0, 0, 4, 11, 0,  1,  12, 7, 0,
                                        0, 2, 14, 5,  10, 12, 0, 0, 0, 0, 6,  13, 10, 0,  0, 0};
  ASSERT_EQ(batch.inputs.sizes(), (at::IntArrayRef{1, 3, 8, 8}));
  EXPECT_EQ(batch.inputs.scalar_type(), at::kFloat);
  EXPECT_FALSE(batch.attention_mask.defined());
  EXPECT_EQ(batch.labels.item<std::int64_t>(), 0);
  const auto* values = batch.inputs.const_data_ptr<float>();
  for (std::size_t i = 0; i < 3 * pixels.size(); ++i) {
    EXPECT_FLOAT_EQ(values[i], pixels[i % 64] / 8 - 1) << i;
  }
}

TEST(Digits, UpscalesByHand) {
  const std::vector<std::int64_t> order = shuffled(1797, 0);
  const std::int64_t at = std::find(order.begin(), order.end(), 0) - order.begin();
  const auto digits = make({.name = "digits", .image_size = 16});
  const std::array indices = {at < 1500 ? at : at - 1500};
  const Batch batch = at < 1500 ? digits->train(indices) : digits->held_out(indices);
  // Target pixel (1, 5) lies at source (0.25, 2.25), between 5 and 13 above, 13 and 15 below:
  // 0.75 (0.75 * 5 + 0.25 * 13) + 0.25 (0.75 * 13 + 0.25 * 15) = 8.625 of 16.
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    EXPECT_FLOAT_EQ(batch.inputs[0][channel][1][5].item<float>(), 8.625F / 8 - 1);
    EXPECT_FLOAT_EQ(batch.inputs[0][channel][0][0].item<float>(), -1);
  }
}

TEST(Digits, RefusesAModelWithTooFewClasses) {
  EXPECT_THROW(find_data("digits").make({.name = "digits"}, 9, kSeed), ConfigError);
}

TEST(Digits, RefusesAnIndexBeyondItsPart) {
  const auto digits = make({.name = "digits", .image_size = 8});
  EXPECT_THROW(digits->train(std::array<std::int64_t, 1>{1500}), std::out_of_range);
  EXPECT_THROW(digits->held_out(std::array<std::int64_t, 1>{297}), std::out_of_range);
}

class RandomData : public testing::TestWithParam<const char*> {
 protected:
  DataOptions options() const {
    return {.name = GetParam(), .image_size = 32, .sequence_length = 64, .samples = 50};
  }
};

TEST_P(RandomData, GivesTheSameSampleInAnyBatch) {
  const Batch one_by_one = make(options())->train(std::array<std::int64_t, 1>{7});
  const Batch among_others = make(options())->train(std::array<std::int64_t, 3>{3, 7, 7});
  EXPECT_TRUE(at::equal(among_others.inputs[1], one_by_one.inputs[0]));
  EXPECT_TRUE(at::equal(among_others.inputs[2], one_by_one.inputs[0]));
  EXPECT_TRUE(at::equal(among_others.labels[1], one_by_one.labels[0]));
  EXPECT_FALSE(at::equal(among_others.inputs[0], one_by_one.inputs[0]));
}

TEST_P(RandomData, DependsOnTheSeed) {
  const std::array<std::int64_t, 1> index = {7};
  EXPECT_FALSE(
      at::equal(make(options(), 1)->train(index).inputs, make(options(), 2)->train(index).inputs));
}

TEST_P(RandomData, HasNoHeldOutPart) {
  const auto data = make(options());
  EXPECT_EQ(data->train_size(), 50);
  EXPECT_EQ(data->held_out_size(), 0);
  EXPECT_THROW(data->held_out(std::array<std::int64_t, 1>{0}), std::out_of_range);
}

INSTANTIATE_TEST_SUITE_P(Both, RandomData, testing::Values("random_images", "random_tokens"));

TEST(RandomImages, AreNormalWithUniformLabels) {
  const Batch batch =
      make({.name = "random_images", .image_size = 32, .samples = 1000})->train(all(1000));
  ASSERT_EQ(batch.inputs.sizes(), (at::IntArrayRef{1000, 3, 32, 32}));
  // 3,072,000 values: five standard errors of the mean are 0.003, of the deviation 0.002.
  EXPECT_NEAR(batch.inputs.mean().item<float>(), 0, 0.003);
  EXPECT_NEAR(batch.inputs.std().item<float>(), 1, 0.002);
  for (std::int64_t label = 0; label < 10; ++label) {
    EXPECT_NEAR(batch.labels.eq(label).sum().item<std::int64_t>(), 100, 50) << label;
  }
}

TEST(RandomTokens, AreUniformIdsWithLabelZero) {
  const Batch batch =
      make({.name = "random_tokens", .sequence_length = 128, .samples = 1000})->train(all(1000));
  ASSERT_EQ(batch.inputs.sizes(), (at::IntArrayRef{1000, 128}));
  EXPECT_FALSE(batch.attention_mask.defined());
  EXPECT_EQ(batch.labels.ne(0).sum().item<std::int64_t>(), 0);
  // 128,000 ids of 29,900: the ends are met to within 0.1 %, the mean to five standard errors.
  EXPECT_GE(batch.inputs.min().item<std::int64_t>(), 100);
  EXPECT_LT(batch.inputs.min().item<std::int64_t>(), 130);
  EXPECT_LT(batch.inputs.max().item<std::int64_t>(), 30000);
  EXPECT_GT(batch.inputs.max().item<std::int64_t>(), 29970);
  EXPECT_NEAR(batch.inputs.to(at::kDouble).mean().item<double>(), 15049.5, 121);
}

TEST(DataTable, RefusesAnUnknownNameAndNamesTheAllowedOnes) {
  try {
    find_data("mnist");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "unknown data set 'mnist'; allowed: digits, novels, cifar10, random_images, random_tokens");
  }
}

TEST(DataOptions, ReadsACaseAndTellsTheModelItsShape) {
  DataOptions options;
  const auto read = [&](const char* json) {
    read_fields(nlohmann::ordered_json::parse(json), "data", [&](Fields& f) { options.fields(f); });
  };
  read(R"({"name": "digits", "image_size": 32, "workers": 2, "pinned": true})");
  EXPECT_EQ(options.shape().image_size, 32);
  EXPECT_EQ(options.shape().sequence_length, 0);
  EXPECT_EQ(options.workers, 2);
  EXPECT_TRUE(options.pinned);
  options = {};
  read(R"({"name": "random_tokens", "sequence_length": 512})");
  EXPECT_EQ(options.shape().image_size, 0);
  EXPECT_EQ(options.shape().sequence_length, 512);
  EXPECT_THROW(read(R"({"name": "digits", "image_size": 0})"), ConfigError);
  EXPECT_THROW(read(R"({"name": "mnist"})"), ConfigError);
}

}  // namespace
}  // namespace headroom
