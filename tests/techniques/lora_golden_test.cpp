// SPDX-License-Identifier: Apache-2.0
// Loss, gradients and merged weights agree with peft: tests/golden/make_lora.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/saved_weights.h"
#include "techniques/technique.h"
#include "tests/models/golden.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

const nlohmann::json& golden_lora() {
  static const nlohmann::json json = [] {
    std::ifstream file(HEADROOM_SOURCE_DIR "/tests/golden/lora.json");
    return nlohmann::json::parse(file).at("lora");
  }();
  return json;
}

std::map<std::string, at::Tensor> by_name(const Model& model) {
  std::map<std::string, at::Tensor> tensors;
  for (const Parameter& parameter : model.parameters()) tensors[parameter.name] = parameter.tensor;
  return tensors;
}

/// A model of an entry with lora on it, filled by the hash.
struct GoldenLora {
  std::unique_ptr<Model> model;
  std::unique_ptr<Technique> technique = find_technique("lora").make();
  Ledger ledger;
  Evidence evidence;
  Recipe recipe;
  Step step;

  explicit GoldenLora(const nlohmann::json& entry)
      : model(make_golden_model(entry, {.dtype = at::kDouble})),
        step{.model = *model, .ledger = ledger, .evidence = evidence} {
    const nlohmann::ordered_json options{{"rank", entry.at("rank").get<std::int64_t>()},
                                         {"alpha", entry.at("alpha").get<double>()},
                                         {"targets", entry.at("targets").get<std::string>()}};
    read_fields(options, "lora", [this](Fields& f) { technique->fields(f); });
    ParameterFactory factory(at::kCPU, at::kDouble);
    technique->extend_model(*model, factory);
    model->extend(factory.take());
    fill_by_hash(*model);
    step.own_weights = [this] {
      std::vector<WeightPart> weights;
      for (const auto& [name, tensor] : model->parameters()) {
        weights.push_back({name, TensorPart::whole(tensor.sizes()), tensor.detach()});
      }
      return weights;
    };
    technique->wrap_model(step, recipe);
  }
};

/// A row of the file: a name, and its tensor's fingerprint.
void expect_fingerprint(const at::Tensor& tensor, const nlohmann::json& row) {
  const double typical = row.at(1).get<double>() / std::sqrt(static_cast<double>(tensor.numel()));
  const std::array<double, 5> actual = fingerprint(tensor);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double value = row.at(i + 1).get<double>();
    EXPECT_NEAR(actual[i], value, 1e-9 * std::max(std::abs(value), typical))
        << row.at(0) << " " << i;
  }
}

/// By its place in the file.
class LoraParity : public testing::TestWithParam<std::size_t> {
 protected:
  static const nlohmann::json& entry() { return golden_lora()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(, LoraParity, testing::Range<std::size_t>(0, golden_lora().size()),
                         [](const auto& test) {
                           const nlohmann::json& entry = golden_lora()[test.param];
                           return entry.at("model").get<std::string>() + "_" +
                                  entry.at("targets").get<std::string>();
                         });

TEST_P(LoraParity, LossAndGradientsAreThoseOfPeft) {
  GoldenLora tuned(entry());
  const at::Tensor loss = tuned.model->loss(make_golden_batch(entry()));
  EXPECT_NEAR(loss.item<double>(), entry().at("loss").get<double>(), 1e-10);
  loss.backward();
  std::size_t trained = 0;
  const std::map<std::string, at::Tensor> tensors = by_name(*tuned.model);
  for (const auto& [name, tensor] : tensors) trained += tensor.grad().defined() ? 1 : 0;
  ASSERT_EQ(trained, entry().at("gradients").size());
  for (const nlohmann::json& row : entry().at("gradients")) {
    expect_fingerprint(tensors.at(row.at(0).get<std::string>()).grad(), row);
  }
}

TEST_P(LoraParity, MergedWeightsAreThoseOfPeft) {
  const GoldenLora tuned(entry());
  const std::vector<WeightPart> merged = tuned.step.own_weights();
  ASSERT_EQ(merged.size(), entry().at("merged").size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    EXPECT_EQ(merged[i].name, entry().at("merged")[i].at(0).get<std::string>());
    expect_fingerprint(merged[i].values, entry().at("merged")[i]);
  }
}

TEST_P(LoraParity, AModelThatReadsTheMergedWeightsSaysTheSame) {
  GoldenLora tuned(entry());
  const TemporaryFolder folder;
  write_weight_parts(folder / "saved", {}, tuned.step.own_weights());
  const auto plain = make_golden_model(entry(), {.dtype = at::kDouble});
  load_weights(folder / "saved", plain->parameters());
  const Batch batch = make_golden_batch(entry());
  const at::Tensor expected = tuned.model->logits(batch);
  const at::Tensor difference = plain->logits(batch).sub(expected);
  EXPECT_LE(difference.abs().max().item<double>(), 1e-12 * expected.abs().max().item<double>());
}

}  // namespace
}  // namespace headroom
