// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

constexpr const char* kFullSuite = R"(
suite: full
source: "a table: with a colon, and 'quotes'"
defaults:
  ranks: 2
  model: {name: vit, patch: 8}
  data: {path: "007"}
  train: {batch_size: 64, optimizer: {lr: 5.0e-5, beta1: 0.5}}
cases:
  - name: vanilla
    published: {run_peak_reserved_bytes: 26790000000, samples_per_second: 0.1}
  - name: text
    ranks: 4
    model: {name: bert, num_classes: 3}
    techniques: [bfloat16, {gradient_accumulation: {micro_batches: 2}}]
  - name: sgd
    train: {optimizer: {name: sgd, momentum: 0.9}}
    data: {path: "a\nb # c"}
)";

void expect_same_again(const Suite& suite) {
  const Suite again = load_text(suite.effective_yaml);
  EXPECT_EQ(again.name, suite.name);
  EXPECT_EQ(again.source, suite.source);
  EXPECT_EQ(again.cases, suite.cases) << suite.effective_yaml;
  EXPECT_EQ(again.effective_yaml, suite.effective_yaml);
}

TEST(EffectiveSuite, GivesTheSameCases) { expect_same_again(load_text(kFullSuite)); }

TEST(EffectiveSuite, GivesTheSameCasesWithMatrixAndOverrides) {
  const std::string text = std::string(kFullSuite) +
                           "matrix:\n  train.optimizer.name: [adam, sgd]\n  train.seed: [1, 2]\n"
                           "set: {limits.silence_s: 5}\n";
  expect_same_again(load_text(text));
  expect_same_again(load_text(text, {"train.seed=9", "data.path=010", "limits.silence_s=6"}));
  expect_same_again(load_text(text, {"ranks=3"}));
  expect_same_again(load_text(std::string(kFullSuite) + "matrix: {ranks: [1, 2]}\n"));
}

TEST(EffectiveSuite, SpellsOutDefaultsAndOverrides) {
  const std::string text =
      load_text("suite: s\ncases:\n  - {name: a, model: {name: vit}}\n", {"train.seed=9"})
          .effective_yaml;
  EXPECT_EQ(text,
            "suite: \"s\"\n"
            "defaults:\n"
            "  ranks: 1\n"
            "  model: {\"num_classes\": 10}\n"
            "  data: {\"path\": \"\"}\n"
            "  train: {\"batch_size\": 8, \"seed\": 1, \"tf32\": false, \"optimizer\": {\"name\": "
            "\"adam\", "
            "\"lr\": 0.001, \"beta1\": 0.9}}\n"
            "  limits: {\"silence_s\": 60}\n"
            "  gate: {\"time_percent\": 3.0, \"reserved_bytes\": 20971520}\n"
            "cases:\n"
            "  - name: \"a\"\n"
            "    model: {\"name\": \"vit\"}\n"
            "set:\n"
            "  train.seed: 9\n");
}

TEST(EffectiveSuite, SaysMemoryOnlyWhereItIsTrueAlone) {
  const std::string text = "suite: s\ncases:\n  - {name: a, model: {name: vit}}\n";
  const Suite plain = load_text(text);
  EXPECT_FALSE(plain.memory_only);
  EXPECT_EQ(load_text(text + "memory_only: false\n").effective_yaml, plain.effective_yaml);
  const Suite suite = load_text(text + "memory_only: true\n");
  EXPECT_TRUE(suite.memory_only);
  EXPECT_TRUE(load_text(suite.effective_yaml).memory_only);
  expect_same_again(suite);
}

}  // namespace
}  // namespace headroom
