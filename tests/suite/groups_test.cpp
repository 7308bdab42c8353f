// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

const std::string kGroups =
    "suite: s\n"
    "defaults: {train: {batch_size: 64, seed: 3}}\n"
    "groups:\n"
    "  - name: bert\n"
    "    model: {name: bert, num_classes: 3}\n"
    "    train: {batch_size: 8}\n"
    "  - {name: vit, model: {name: vit}}\n"
    "cases:\n"
    "  - name: vanilla\n"
    "  - {name: small, train: {batch_size: 2}, techniques: [bfloat16]}\n";

TEST(Groups, hold_every_case_once) {
  const Suite suite = load_text(kGroups);
  std::string seen;
  for (const Case& one : suite.cases) {
    seen += one.name + " " + one.find("model.name")->get<std::string>() + " " +
            one.find("train.batch_size")->dump() + " " + one.find("train.seed")->dump() + " " +
            one.technique_names() + "\n";
  }
  EXPECT_EQ(seen,
            "bert_vanilla bert 8 3 none\n"
            "bert_small bert 2 3 bfloat16\n"
            "vit_vanilla vit 64 3 none\n"
            "vit_small vit 2 3 bfloat16\n");
}

TEST(Groups, stand_in_the_effective_suite) {
  const Suite suite = load_text(kGroups + "matrix: {train.seed: [1, 2]}\n");
  ASSERT_EQ(suite.cases.size(), 8U);
  EXPECT_EQ(suite.cases[1].name, "bert_vanilla@train.seed=2");
  const Suite again = load_text(suite.effective_yaml);
  EXPECT_EQ(again.cases, suite.cases) << suite.effective_yaml;
  EXPECT_EQ(again.effective_yaml, suite.effective_yaml);
}

TEST(Groups, are_refused_with_their_place_where_they_are_wrong) {
  const auto refusal = [](const std::string& groups, const std::string& cases = "[{name: a}]") {
    return refusal_of<ConfigError>("suite: s\ndefaults: {model: {name: vit}}\ngroups: " + groups +
                                   "\ncases: " + cases + "\n");
  };
  EXPECT_EQ(refusal("[]"), "s.yaml:3:9: groups is empty; give at least one");
  EXPECT_TRUE(contains(refusal("{a: 1}"), "s.yaml:3:9: groups is a map"));
  EXPECT_EQ(refusal("[{model: {name: vit}}]"), "s.yaml:3:10: the group lacks 'name'");
  EXPECT_TRUE(contains(refusal("[{name: a b}]"), "s.yaml:3:17: the group's name is 'a b'"));
  EXPECT_EQ(refusal("[{name: a}, {name: a}]"),
            "s.yaml:3:28: the group 'a' stands twice; names are unique");
  EXPECT_TRUE(contains(refusal("[{name: a, techniques: []}]"),
                       "unknown key 'techniques' in a group; allowed: name, ranks, model"));
  EXPECT_TRUE(contains(refusal("[{name: a, train: {batch: 1}}]"), "s.yaml:3:"));
  EXPECT_EQ(refusal("[{name: a}, {name: a_b}]", "[{name: b_c}, {name: c}]"),
            "s.yaml:3:9: two cases are named a_b_c; names are unique");
  EXPECT_EQ(
      refusal("[{name: a}, {name: b}]", "[{name: c, published: {run_peak_reserved_bytes: 1}}]"),
      "s.yaml:4:30: published figures are of one training, and this case stands in 2 groups; "
      "give it a suite without");
}

TEST(Groups, count_among_the_most_cases_that_there_may_be) {
  std::string groups = "[{name: g0}";
  for (int i = 1; i < 101; ++i) groups += ", {name: g" + std::to_string(i) + "}";
  std::string cases = "[{name: c0}";
  for (int i = 1; i < 50; ++i) cases += ", {name: c" + std::to_string(i) + "}";
  EXPECT_EQ(refusal_of<ConfigError>("suite: s\ndefaults: {model: {name: vit}}\ngroups: " + groups +
                                    "]\ncases: " + cases + "]\n"),
            "s.yaml:3:9: more than 5000 cases in all");
}

}  // namespace
}  // namespace headroom
