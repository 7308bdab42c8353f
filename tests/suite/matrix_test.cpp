// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

const std::string kTwoCases =
    "suite: s\ndefaults:\n  model: {name: vit}\ncases:\n  - name: a\n  - name: b\n";

std::vector<std::string> names(const Suite& suite) {
  std::vector<std::string> result;
  for (const Case& one : suite.cases) result.push_back(one.name);
  return result;
}

TEST(Matrix, GivesEveryCombinationTheLastKeyFastest) {
  const Suite suite =
      load_text(kTwoCases + "matrix:\n  train.batch_size: [2, 1]\n  train.seed: [5, 6]\n");
  EXPECT_EQ(names(suite),
            (std::vector<std::string>{
                "a@train.batch_size=2,train.seed=5", "a@train.batch_size=2,train.seed=6",
                "a@train.batch_size=1,train.seed=5", "a@train.batch_size=1,train.seed=6",
                "b@train.batch_size=2,train.seed=5", "b@train.batch_size=2,train.seed=6",
                "b@train.batch_size=1,train.seed=5", "b@train.batch_size=1,train.seed=6"}));
  EXPECT_EQ(*suite.cases[2].find("train.batch_size"), 1);
  EXPECT_EQ(*suite.cases[2].find("train.seed"), 5);
}

TEST(Matrix, VariesFieldsOfEveryType) {
  const Suite suite = load_text(kTwoCases +
                                "matrix:\n  train.optimizer.name: [adam, sgd]\n"
                                "  train.optimizer.lr: [5.0e-5]\n  train.tf32: [true]\n"
                                "  data.path: [x.y]\n");
  ASSERT_EQ(suite.cases.size(), 4u);
  EXPECT_EQ(suite.cases[1].name,
            "a@train.optimizer.name=sgd,train.optimizer.lr=5e-05,train.tf32=true,data.path=x.y");
  EXPECT_EQ(suite.cases[1].find("train.optimizer")->dump(),
            R"({"name":"sgd","lr":5e-05,"momentum":0.0})");
}

TEST(Matrix, AnOverrideTakesThePlaceOfItsList) {
  const Suite suite =
      load_text(kTwoCases + "matrix: {train.batch_size: [1, 2]}\n", {"train.batch_size=4"});
  EXPECT_EQ(names(suite),
            (std::vector<std::string>{"a@train.batch_size=4", "b@train.batch_size=4"}));
  EXPECT_EQ(*suite.cases[0].find("train.batch_size"), 4);
}

TEST(Matrix, RefusesWhatItCanNotVary) {
  const auto refusal = [](const std::string& matrix) {
    return refusal_of<ConfigError>(kTwoCases + "matrix: " + matrix + "\n");
  };
  EXPECT_EQ(refusal("{train.batchsize: [1]}"),
            "s.yaml:7:10: unknown key 'train.batchsize'; did you mean 'train.batch_size'? Allowed: "
            "train.batch_size, train.seed, train.tf32, train.optimizer");
  EXPECT_TRUE(contains(refusal("{train.optimizer: [1]}"), "is a group of fields"));
  EXPECT_TRUE(contains(refusal("{train.seed.x: [1]}"), "'train.seed' has no fields"));
  EXPECT_TRUE(contains(refusal("{train.seed: []}"), "train.seed is empty"));
  EXPECT_TRUE(contains(refusal("{train.seed: 1}"), "train.seed is '1'; allowed: a list"));
  EXPECT_EQ(refusal("{train.seed: [1, 1]}"), "s.yaml:7:26: '1' stands twice in matrix.train.seed");
  EXPECT_TRUE(contains(refusal("{train.batch_size: [0]}"), "allowed: an integer from 1 to 4096"));
  EXPECT_TRUE(contains(refusal("{data.path: [../../x]}"), "part of the case's name"));
  EXPECT_TRUE(contains(refusal("[1]"), "matrix is a list; allowed: a map"));
}

TEST(Matrix, RefusesTooManyCases) {
  std::string axis = "[1";
  for (int i = 2; i <= 51; ++i) axis += ", " + std::to_string(i);
  axis += "]";
  const std::string fifty = axis.substr(0, axis.rfind(',')) + "]";
  EXPECT_EQ(load_text(kTwoCases + "matrix: {train.batch_size: " + fifty + ", train.seed: " + fifty +
                      "}\n")
                .cases.size(),
            5000u);
  EXPECT_EQ(refusal_of<ConfigError>(kTwoCases + "matrix: {train.batch_size: " + axis +
                                    ", train.seed: " + fifty + "}\n"),
            "s.yaml:7:9: more than 5000 cases in all");
  EXPECT_TRUE(contains(refusal_of<ConfigError>(kTwoCases + "matrix: {train.batch_size: " + axis +
                                               ", train.seed: " + axis + ", limits.silence_s: " +
                                               axis + ", model.num_classes: [2, 3]}\n"),
                       "more than 5000"));
}

}  // namespace
}  // namespace headroom
