// SPDX-License-Identifier: Apache-2.0
// The names, shapes, order and number of all parameters are those of torchvision and transformers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "models/table.h"
#include "tests/models/golden.h"

namespace headroom {
namespace {

using Named = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

bool is_of_layer(const nlohmann::json& row) {
  return row.at(0).get<std::string>().find("{}") != std::string::npos;
}

std::string with_number(std::string name, int number) {
  return name.replace(name.find("{}"), 2, std::to_string(number));
}

// The file holds the rows of layer 0 with {} for the number; they repeat for every layer.
Named expected_parameters(const nlohmann::json& entry) {
  Named before;
  Named layer;
  Named after;
  for (const nlohmann::json& row : entry.at("parameters")) {
    Named& part = is_of_layer(row) ? layer : layer.empty() ? before : after;
    part.emplace_back(row.at(0), row.at(1));
  }
  for (int i = 0; i < entry.at("layers").get<int>(); ++i) {
    for (const auto& [name, shape] : layer) before.emplace_back(with_number(name, i), shape);
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

/// Of each family whose size a suite may set, its first model.
std::set<std::string> smallest_of_each_family() {
  std::set<std::string> families;
  std::set<std::string> names;
  for (const ModelEntry& entry : model_table()) {
    const std::string name(entry.name);
    if (entry.takes_size && families.insert(name.substr(0, name.find('_'))).second) {
      names.insert(name);
    }
  }
  return names;
}

TEST(Structure, EveryModelHasTheParametersOfItsReference) {
  std::set<std::string> of_their_names;
  std::set<std::string> of_other_sizes;
  for (const nlohmann::json& entry : golden().at("structures")) {
    (entry.contains("size") ? of_other_sizes : of_their_names).insert(entry.at("model"));
    const auto model = make_golden_model(entry, {.device = at::kMeta});
    Named actual;
    for (const auto& [name, tensor] : model->parameters()) {
      actual.emplace_back(name, tensor.sizes().vec());
      EXPECT_TRUE(tensor.requires_grad() && tensor.is_leaf()) << name;
    }
    EXPECT_EQ(actual, expected_parameters(entry)) << entry.at("model");
    Named buffers;
    for (const auto& [name, tensor] : model->buffers()) {
      buffers.emplace_back(name, tensor.sizes().vec());
      EXPECT_FALSE(tensor.requires_grad()) << name;
    }
    EXPECT_EQ(buffers, entry.value("buffers", Named())) << entry.at("model");
    EXPECT_EQ(model->parameter_count(), entry.at("parameter_count").get<std::int64_t>());
    EXPECT_EQ(model->blocks().size(), entry.at("layers").get<std::size_t>());
  }
  EXPECT_EQ(of_their_names.size(), model_table().size());
  EXPECT_EQ(of_other_sizes, smallest_of_each_family());
}

// Counts that were published elsewhere.
TEST(Structure, PublishedParameterCounts) {
  const auto count = [](const char* name, std::int64_t classes, const InputShape& shape) {
    return find_model(name)
        .make({.name = name, .num_classes = classes}, shape, {at::kMeta, at::kFloat})
        ->parameter_count();
  };
  EXPECT_EQ(count("vit_b_16", 1000, {.image_size = 224}), 86'567'656);   // torchvision's table
  EXPECT_EQ(count("vit_l_16", 1000, {.image_size = 224}), 304'326'632);  // torchvision's table
  EXPECT_EQ(count("vit_h_14", 1000, {.image_size = 518}), 633'470'440);  // torchvision's table
  EXPECT_EQ(count("resnet_50", 1000, {.image_size = 224}), 25'557'032);  // torchvision's table
  EXPECT_EQ(count("vit_l_16", 10, {.image_size = 224}), 303'311'882);
  EXPECT_EQ(count("vit_h_14", 10, {.image_size = 518}), 632'202'250);
  EXPECT_EQ(count("bert_large", 2, {.sequence_length = 512}), 335'143'938);
  EXPECT_EQ(count("gpt2", 2, {.sequence_length = 1024}), 124'439'808);        // transformers
  EXPECT_EQ(count("gpt2_xl", 2, {.sequence_length = 1024}), 1'557'611'200);   // transformers
  EXPECT_EQ(count("llama_1b", 2, {.sequence_length = 1024}), 1'235'814'400);  // 1.24e9 by its card
  // arXiv:2104.04473, equation 2, and the last normalisation, which it leaves out
  const std::int64_t l = 36, h = 4096, v = 51200, s = 2048;
  EXPECT_EQ(count("gpt2_7_5b", 2, {.sequence_length = 2048}),
            12 * l * h * h + 13 * l * h + (v + s) * h + 2 * h);
}

}  // namespace
}  // namespace headroom
