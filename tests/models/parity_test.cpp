// SPDX-License-Identifier: Apache-2.0
// Logits, loss and every gradient agree with torchvision and transformers, and so do buffers after
// a forward pass.
#include <gtest/gtest.h>

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/models/golden.h"

namespace headroom {
namespace {

struct Precision {
  at::ScalarType dtype;
  double logits;     // largest relative error allowed
  double gradients;  // the same
};
constexpr Precision kSingle{.dtype = at::kFloat, .logits = 1e-5, .gradients = 1e-4};
constexpr Precision kDouble{.dtype = at::kDouble, .logits = 1e-10, .gradients = 1e-9};

struct Case {
  const nlohmann::json* entry;
  std::string attention;
  Precision precision;
};

/// BigBird attends by blocks where there are many tokens, which kernels can't.
std::vector<std::string> kernels_of(const nlohmann::json& entry) {
  if (!entry.value("has_attention", true)) return {"without_attention"};
  const bool by_blocks = entry.at("model") == "bigbird_mini" && entry.at("tokens") > 88;
  if (by_blocks) return {"automatic", "eager"};
  return {"eager", "flash", "math"};
}

// Every model with every kernel in single precision; the small ones in double as well. resnet_50 in
// double alone: 53 normalisations, of the last by 12 numbers, make more of rounding than is
// allowed.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const nlohmann::json& entry : golden().at("parity")) {
    const std::string model = entry.at("model");
    const bool small = model == "vit_ti_16" || model.ends_with("_mini") || entry.contains("size");
    const bool is_steep = model == "resnet_50";
    for (const std::string& attention : kernels_of(entry)) {
      if (!is_steep) all.push_back({&entry, attention, kSingle});
      if (small || is_steep) all.push_back({&entry, attention, kDouble});
    }
  }
  return all;
}

std::string name_of(const Case& test) {
  return test.entry->at("model").get<std::string>() +
         (test.entry->contains("size") ? "_sized_" : "_") +
         std::to_string(test.entry->at("tokens").get<int>()) +
         (test.entry->at("training").get<bool>() ? "_training" : "") +
         (test.entry->at("padded").get<bool>() ? "_padded_" : "_") + test.attention +
         (test.precision.dtype == at::kFloat ? "_single" : "_double");
}

// CTest names the tests by this.
void PrintTo(const Case& test, std::ostream* out) { *out << name_of(test); }

double largest(const nlohmann::json& rows) {
  double value = 0.0;
  for (const auto& row : rows) {
    for (const auto& cell : row) value = std::max(value, std::abs(cell.get<double>()));
  }
  return value;
}

void expect_logits(const at::Tensor& logits, const nlohmann::json& expected, const Case& test) {
  const double tolerance = test.precision.logits * largest(expected);
  ASSERT_EQ(logits.size(0), static_cast<std::int64_t>(expected.size()));
  ASSERT_EQ(logits.size(1), static_cast<std::int64_t>(expected[0].size()));
  for (std::int64_t b = 0; b < logits.size(0); ++b) {
    for (std::int64_t c = 0; c < logits.size(1); ++c) {
      EXPECT_NEAR(logits[b][c].item<double>(), expected[b][c].get<double>(), tolerance);
    }
  }
}

// An entry may be near 0, or all of a gradient be nothing but rounding (the bias of the keys does
// not change a softmax), so errors are relative to what the numbers around them are.
void expect_gradients(const Model& model, const Case& test) {
  const nlohmann::json& expected = test.entry->at("gradients");
  double whole = 0.0;
  for (const auto& row : expected) whole = std::hypot(whole, row.at(1).get<double>());
  ASSERT_EQ(expected.size(), model.parameters().size());
  for (std::size_t p = 0; p < expected.size(); ++p) {
    const Parameter& parameter = model.parameters()[p];
    const nlohmann::json& row = expected[p];
    ASSERT_EQ(parameter.name, row.at(0).get<std::string>());
    const double norm = row.at(1).get<double>();
    const double typical = norm / std::sqrt(static_cast<double>(parameter.tensor.numel()));
    const std::array<double, 5> actual = fingerprint(parameter.tensor.grad());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double value = row.at(i + 1).get<double>();
      const double scale = std::max({std::abs(value), typical, 1e-3 * whole});
      EXPECT_NEAR(actual[i], value, test.precision.gradients * scale) << parameter.name << " " << i;
    }
  }
}

/// Of a model that has some, after its first forward pass, and its logits in evaluation then.
void expect_statistics(Model& model, const Case& test, const Batch& batch) {
  if (!test.entry->contains("buffers")) return;
  const nlohmann::json& expected = test.entry->at("buffers");
  ASSERT_EQ(expected.size(), model.buffers().size());
  for (std::size_t b = 0; b < expected.size(); ++b) {
    const Buffer& buffer = model.buffers()[b];
    ASSERT_EQ(buffer.name, expected[b].at(0).get<std::string>());
    const std::array<double, 5> actual = fingerprint(buffer.tensor);
    const double norm = expected[b].at(1).get<double>();
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[b].at(i + 1).get<double>(), test.precision.logits * norm)
          << buffer.name << " " << i;
    }
  }
  model.set_training(false);
  expect_logits(model.logits(batch), test.entry->at("evaluation"), test);
}

class Parity : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, Parity, testing::ValuesIn(cases()),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(Parity, LogitsLossAndGradients) {
  const auto& [entry, attention, precision] = GetParam();
  const auto model = make_golden_model(*entry, {.attention = attention, .dtype = precision.dtype});
  const bool training = entry->at("training").get<bool>();
  model->set_training(training);
  fill_by_hash(*model);
  const Batch batch = make_golden_batch(*entry);
  expect_logits(golden_logits(model->logits(batch)), entry->at("logits"), GetParam());
  expect_statistics(*model, GetParam(), batch);
  model->set_training(training);
  if (entry->at("gradients").empty()) return;  // of a large model the file has the logits only

  const at::Tensor loss = model->loss(batch);
  EXPECT_NEAR(loss.item<double>(), entry->at("loss").get<double>(), precision.logits);
  loss.backward();
  expect_gradients(*model, GetParam());
}

}  // namespace
}  // namespace headroom
