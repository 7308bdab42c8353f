// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/core/error.h"
#include "src/suite/suite.h"
#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

const std::string kHead = "suite: s\ndefaults:\n  model: {name: vit}\n";

nlohmann::ordered_json value(const std::string& text, const std::string& path,
                             const std::vector<std::string>& sets = {}) {
  const Suite suite = load_text(text, sets);
  const auto* found = suite.cases.at(0).find(path);
  return found == nullptr ? nlohmann::ordered_json() : *found;
}

TEST(Layers, TheLastOneThatGivesAValueWins) {
  std::string text = kHead + "cases:\n  - name: a\n";
  const char* path = "train.batch_size";
  EXPECT_EQ(value(text, path), 8);
  text = kHead + "  train: {batch_size: 16}\ncases:\n  - name: a\n";
  EXPECT_EQ(value(text, path), 16);
  text += "    train: {batch_size: 32}\n";
  EXPECT_EQ(value(text, path), 32);
  EXPECT_EQ(value(text + "matrix: {train.batch_size: [64]}\n", path), 64);
  EXPECT_EQ(value(text + "set: {train.batch_size: 128}\n", path), 128);
  EXPECT_EQ(value(text + "matrix: {train.seed: [2]}\nset: {train.seed: 3}\n", "train.seed"), 3);
  EXPECT_EQ(value(text + "set: {train.batch_size: 128}\n", path, {"train.batch_size=256"}), 256);
  EXPECT_EQ(value(text, path, {"train.batch_size=1", "train.batch_size=2"}), 2);
}

TEST(Layers, MergeObjectsMemberByMember) {
  const std::string text = kHead +
                           "  train: {seed: 7, optimizer: {lr: 0.5, beta1: 0.1}}\n"
                           "cases:\n  - {name: a, train: {optimizer: {lr: 0.25}}}\n";
  EXPECT_EQ(value(text, "train.seed"), 7);
  EXPECT_EQ(value(text, "train.optimizer.lr"), 0.25);
  EXPECT_EQ(value(text, "train.optimizer.beta1"), 0.1);
}

TEST(Layers, ANewNameDropsWhatDoesNotGoWithIt) {
  const std::string text =
      kHead +
      "  train: {optimizer: {lr: 0.5, beta1: 0.1}}\n"
      "cases:\n  - {name: a, train: {optimizer: {name: sgd, momentum: 0.5}}}\n";
  EXPECT_EQ(value(text, "train.optimizer").dump(), R"({"name":"sgd","lr":0.5,"momentum":0.5})");
  // Back again by the command line: what was dropped stays dropped.
  EXPECT_EQ(value(text, "train.optimizer", {"train.optimizer.name=adam"}).dump(),
            R"({"name":"adam","lr":0.5,"beta1":0.9})");
  const std::string bert =
      "suite: s\ndefaults:\n  model: {name: vit, patch: 8}\n"
      "cases:\n  - {name: a, model: {name: bert}}\n";
  EXPECT_EQ(value(bert, "model").dump(), R"({"name":"bert","num_classes":10})");
}

TEST(Layers, AFieldOfAnotherNameIsAnErrorInItsOwnLayer) {
  const std::string expected =
      ": train.optimizer.momentum does not go with train.optimizer.name 'adam'; it goes with: sgd";
  // The name in force is the catalog's default, the layer's own, or an earlier layer's.
  EXPECT_EQ(refusal_of<ConfigError>(kHead +
                                    "cases:\n  - {name: a, train: {optimizer: {momentum: 0.5}}}\n"),
            "s.yaml:5:35" + expected);
  EXPECT_EQ(refusal_of<ConfigError>(kHead + "cases:\n  - name: a\n    train:\n      optimizer:\n"
                                            "        momentum: 0.5\n        name: adam\n"),
            "s.yaml:8:9" + expected);
  EXPECT_EQ(
      refusal_of<ConfigError>(kHead + "cases:\n  - {name: a}\n", {"train.optimizer.momentum=0.5"}),
      "--set train.optimizer.momentum=0.5" + expected);
  EXPECT_NO_THROW(load_text(kHead + "cases:\n  - {name: a}\n",
                            {"train.optimizer.momentum=0.5", "train.optimizer.name=sgd"}));
}

TEST(Layers, WhatIsRequiredMayStandInAnyOfThem) {
  const std::string text = "suite: s\ncases:\n  - {name: a}\n";
  EXPECT_EQ(refusal_of<ConfigError>(text),
            "s.yaml:3:5: model.name must be given; allowed: vit, bert");
  EXPECT_EQ(value(text, "model.name", {"model.name=bert"}), "bert");
  // A field that goes with some names waits for the name.
  EXPECT_EQ(
      value("suite: s\ndefaults: {model: {patch: 8}}\ncases:\n  - {name: a, model: {name: vit}}\n",
            "model.patch"),
      8);
}

const std::string kOneCase = "suite: s\ndefaults:\n  model: {name: vit}\ncases:\n  - name: a\n";

TEST(Override, SplitsAtTheFirstEqualsSign) {
  const Override one = parse_override("data.path=a=b c");
  EXPECT_EQ(one.path, "data.path");
  EXPECT_EQ(one.value.text, "a=b c");
  EXPECT_EQ(one.value.place.text(), "--set data.path=a=b c");
  EXPECT_EQ(parse_override("data.path=").value.text, "");
}

TEST(Override, RefusesWhatIsNone) {
  for (const std::string text : {"", "x", "=1", "a=\x1b[31m", "a=\xFF", "a=1\n"}) {
    EXPECT_TRUE(message_of<ConfigError>([&] { parse_override(text); }).starts_with("--set"))
        << text;
  }
  EXPECT_THROW(parse_override("a=" + std::string(2000, 'x')), ConfigError);
}

TEST(Override, IsCheckedAsAnyOtherValue) {
  const auto refusal = [](const std::string& set) {
    return refusal_of<ConfigError>(kOneCase, {set});
  };
  EXPECT_EQ(
      refusal("train.batch_size=x"),
      "--set train.batch_size=x: train.batch_size is 'x'; allowed: an integer from 1 to 4096");
  EXPECT_EQ(refusal("trian.seed=1"),
            "--set trian.seed=1: unknown key 'trian.seed'; did you mean 'train'? Allowed: ranks, "
            "model, data, "
            "train, limits, gate");
  EXPECT_TRUE(contains(refusal("train=1"), "is a group of fields; name one of them"));
  EXPECT_TRUE(contains(refusal("train.optimizer.name=sdg"), "did you mean 'sgd'?"));
  EXPECT_TRUE(contains(refusal("techniques=x"), "unknown key 'techniques'"));
  EXPECT_EQ(load_text(kOneCase, {"data.path=12"}).cases[0].find("data.path")->dump(), "\"12\"");
}

}  // namespace

}  // namespace headroom
