// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <span>

#include "src/runner/outcome.h"
#include "src/suite/catalog.h"
#include "tests/support/program.h"

namespace headroom {

Json small_vit(std::int64_t ranks, std::int64_t batch_size) {
  return {{"name", "small"},
          {"ranks", ranks},
          {"model", {{"name", "vit_ti_16"}, {"num_classes", 10}}},
          {"data", {{"name", "digits"}, {"image_size", 32}}},
          {"train",
           {{"batch_size", batch_size},
            {"optimizer", {{"name", "adamw"}, {"lr", 1e-3}, {"weight_decay", 0.01}}}}},
          {"techniques", Json::array()}};
}

Json small_bert(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_vit(ranks, batch_size);
  values["model"] = {{"name", "bert_mini"}, {"num_classes", 2}};
  values["data"] = {{"name", "random_tokens"}, {"sequence_length", 16}};
  return values;
}

Json small_gpt2(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_bert(ranks, batch_size);
  values["model"]["name"] = "gpt2_mini";
  return values;
}

std::vector<RankSaw> train(const Json& values, int steps) {
  const TemporaryFolder folder;
  const std::string file = folder.write("case.json", values.dump());
  const auto ranks = values.at("ranks").get<int>();
  std::list<Program> programs;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    programs.emplace_back("rank_trainer",
                          std::vector<std::string>{file, number, folder / "store", folder / number,
                                                   std::to_string(steps)});
  }
  std::vector<RankSaw> saw;
  for (Program& program : programs) {
    const Ended ended = program.wait();
    const std::string output = folder / std::to_string(saw.size());
    EXPECT_EQ(ended.code, 0) << "rank " << saw.size() << ", signal " << ended.signal << ": "
                             << ended.err;
    const std::string text = read_text(output);
    saw.push_back({Json::parse(text.empty() ? "{}" : text), read_text(output + ".weights")});
  }
  return saw;
}

std::set<std::string> partners_left_out(const std::string& technique,
                                        const std::vector<std::vector<Json>>& stacks) {
  const Catalog catalog = parse_catalog(read_text(HEADROOM_BUILD_DIR "/catalog.json"));
  EXPECT_NE(catalog.find_technique(technique), nullptr) << technique;
  std::set<std::string> left;
  for (const TechniqueInfo& other : catalog.techniques) {
    Case pair;
    pair.techniques = {{{"name", technique}}, {{"name", other.name}}};
    if (other.name != technique && !why_unsupported(pair, catalog)) left.insert(other.name);
  }
  for (const auto& stack : stacks) {
    std::set<std::string> names;
    for (const Json& one : stack) names.insert(one.at("name").get<std::string>());
    if (!names.contains(technique)) continue;
    for (const std::string& name : names) left.erase(name);
  }
  return left;
}

double weight_distance(const RankSaw& a, const RankSaw& b) {
  EXPECT_EQ(a.weights.size(), b.weights.size());
  const auto numbers = [](const std::string& bytes) {
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
  };
  const std::vector<double> first = numbers(a.weights);
  const std::vector<double> second = numbers(b.weights);
  double distance = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    distance = std::max(distance, std::abs(first[i] - second[i]));
    largest = std::max(largest, std::abs(first[i]));
  }
  EXPECT_GT(largest, 0.0);
  return distance / largest;
}

double loss_distance(const RankSaw& a, const RankSaw& b) {
  const Json& first = a.seen.at("losses");
  const Json& second = b.seen.at("losses");
  EXPECT_EQ(first.size(), second.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double one = first[i].get<double>();
    distance = std::max(distance, std::abs(one - second[i].get<double>()) / std::abs(one));
  }
  return distance;
}

}  // namespace headroom
