// SPDX-License-Identifier: Apache-2.0
// Every pair of techniques that works, in both orders, on a model of each kind: what each member
// adds to the other leaves the case's numbers as its contract says.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "techniques/technique.h"
#include "tests/techniques/expect_contract.h"

namespace headroom {
namespace {

struct Pair {
  std::string first;
  std::string second;
  Json model;

  Names names() const { return {first, second}; }
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.model["model"]; }

bool excludes(const std::string& one, const std::string& other) {
  return std::ranges::count(excluded_by(find_technique(one)), other) > 0;
}

std::vector<Pair> all_pairs(const Json& model) {
  std::vector<Pair> pairs;
  for (const TechniqueEntry& first : technique_table()) {
    for (const TechniqueEntry& second : technique_table()) {
      if (&first == &second) continue;
      pairs.push_back({std::string(first.name), std::string(second.name), model});
    }
  }
  return pairs;
}

std::vector<Pair> working_pairs(const Json& model) {
  std::vector<Pair> pairs = all_pairs(model);
  std::erase_if(pairs, [](const Pair& pair) { return refused(case_of(pair.model, pair.names())); });
  return pairs;
}

/// Of a decoder alone, as each token is held against a large vocabulary: what works nowhere else.
std::vector<Pair> pairs_of_tokens() {
  std::vector<Pair> pairs = working_pairs(small_gpt2());
  std::erase_if(pairs, [](const Pair& pair) {
    return !contract_of(pair.first).of_tokens && !contract_of(pair.second).of_tokens;
  });
  return pairs;
}

class PairTest : public testing::TestWithParam<Pair> {};

constexpr auto kNameOfPair = [](const auto& test) {
  return test.param.first + "_then_" + test.param.second;
};
INSTANTIATE_TEST_SUITE_P(Vit, PairTest, testing::ValuesIn(working_pairs(mini_vit())), kNameOfPair);
INSTANTIATE_TEST_SUITE_P(Gpt2, PairTest, testing::ValuesIn(pairs_of_tokens()), kNameOfPair);
INSTANTIATE_TEST_SUITE_P(Resnet, PairTest, testing::ValuesIn(working_pairs(steady_resnet())),
                         kNameOfPair);
INSTANTIATE_TEST_SUITE_P(BigBird, PairTest, testing::ValuesIn(working_pairs(small_bigbird())),
                         kNameOfPair);

TEST_P(PairTest, EachMemberKeepsItsContract) {
  const Json& model = GetParam().model;
  expect_contracts(model, completed(GetParam().names(), model), GetParam().names());
}

TEST(PairTableTest, APairIsRefusedWhereItsMembersExcludeEachOtherOrOneDoesNotFit) {
  for (const Json& model : {mini_vit(), small_gpt2(), steady_resnet(), small_bigbird()}) {
    for (const Pair& pair : all_pairs(model)) {
      const bool works = fits(contract_of(pair.first), model) &&
                         fits(contract_of(pair.second), model) &&
                         !excludes(pair.first, pair.second) && !excludes(pair.second, pair.first);
      EXPECT_EQ(refused(case_of(model, pair.names())), !works)
          << pair.first << ", " << pair.second << ", " << model["model"];
    }
  }
}

}  // namespace
}  // namespace headroom
