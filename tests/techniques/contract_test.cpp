// SPDX-License-Identifier: Apache-2.0
// Every technique of the table, alone: what it adds to a case leaves the case's numbers as its
// contract says.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <string>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/optimizers/update_rule.h"
#include "techniques/technique.h"
#include "tests/core/messages.h"
#include "tests/support/temporary_folder.h"
#include "tests/techniques/expect_contract.h"

namespace headroom {
namespace {

Names all_names() {
  Names names;
  for (const TechniqueEntry& entry : technique_table()) names.emplace_back(entry.name);
  return names;
}

Names names_on_the_cpu() {
  Names names = all_names();
  std::erase_if(names, [](const std::string& name) { return contract_of(name).of_cuda; });
  return names;
}

/// Alone, or refused where the model is not one for it.
void expect_alone(const Json& model, const std::string& name) {
  const Names names = completed({name}, model);
  if (fits(contract_of(name), model)) {
    expect_contracts(model, names, {name});
  } else {
    EXPECT_TRUE(refused(case_of(model, names)));
  }
}

class ContractTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, ContractTest, testing::ValuesIn(names_on_the_cpu()),
                         [](const auto& test) { return test.param; });

TEST_P(ContractTest, HoldsAloneOnAnImageModel) { expect_alone(small_vit(), GetParam()); }

TEST_P(ContractTest, HoldsAloneOnATextModel) { expect_alone(small_bert(), GetParam()); }

TEST_P(ContractTest, HoldsAloneOnADecoder) {
  for (const Json& decoder : {small_gpt2(), small_llama()}) expect_alone(decoder, GetParam());
}

/// Batch normalisation: what a technique makes of the batch's statistics shows in all numbers, and
/// in the running ones.
TEST_P(ContractTest, HoldsAloneOnAConvolutionalModel) { expect_alone(steady_resnet(), GetParam()); }

/// BigBird: heads have random blocks of their own, and a pooler has no gradient.
TEST_P(ContractTest, HoldsAloneWhereAttentionIsByBlocks) {
  expect_alone(small_bigbird(), GetParam());
}

TEST(Ddp, FindsParametersWithoutAGradientWhereItIsToLook) {
  Json values = small_bigbird();
  values["techniques"] = {technique("ddp", {{"find_unused_parameters", true}})};
  const Trained with = train(values, kContractSteps);
  EXPECT_TRUE(same_bits(with, trained_once(small_bigbird(), kContractSteps)));
  EXPECT_EQ(with.inactive, "");
  values["techniques"] = {technique("ddp")};
  EXPECT_EQ(message_of<ConfigError>([&] { train(values, 1); }),
            "ddp: bert.pooler.weight has no gradient, for which all others would wait; "
            "find_unused_parameters: true has ddp look for such parameters");
}

/// With small steps: where a gradient is 0 but for its last bits, as that of a bias of keys, some
/// optimizers make a whole step of those.
Json under(const OptimizerEntry& optimizer, const Contract& contract) {
  Json values = contract.of_tokens ? small_gpt2() : mini_vit();
  values["train"]["optimizer"] = {{"name", optimizer.name},
                                  {"lr", 1e-4},
                                  {"implementation", enum_name(optimizer.implementations.front())}};
  Json& options = values["train"]["optimizer"];
  if (optimizer.name == "sgd") options["momentum"] = 0.9;          // so it has state
  if (optimizer.name == "apollo") options["projection_rank"] = 8;  // below the width, 64
  if (contract.promise == Promise::same_sums) values["train"]["precision"] = "float64";
  return values;
}

TEST_P(ContractTest, HoldsAloneUnderEachOptimizer) {
  for (const OptimizerEntry& optimizer : optimizer_table()) {
    if (optimizer.name == GetParam()) continue;  // the technique sgd swaps it for itself
    const Json values = under(optimizer, contract_of(GetParam()));
    const Names names = completed({GetParam()}, values);
    if (refused(case_of(values, names))) {
      EXPECT_FALSE(optimizer.works_on_parts) << optimizer.name;
    } else {
      expect_contract(train_stack(values, names), values, names, GetParam());
    }
  }
}

TEST(ContractTableTest, WhatNeedsCudaIsRefusedOnTheCpu) {
  for (const std::string& name : all_names()) {
    if (!contract_of(name).of_cuda) continue;
    EXPECT_TRUE(refused(case_of(small_vit(), {name}))) << name;
  }
}

TEST(ContractTableTest, HasNoContractWithoutATechnique) {
  for (const Contract& contract : contracts()) EXPECT_TRUE(lists(all_names(), contract.technique));
}

/// "zero_2" -> "Zero2".
std::string camel_case(std::string_view name) {
  std::string result;
  bool starts_word = true;
  for (const char c : name) {
    if (c != '_') result += starts_word ? static_cast<char>(std::toupper(c)) : c;
    starts_word = c == '_';
  }
  return result;
}

TEST(ContractTableTest, EachTechniqueHasATestOfItsMemory) {
  std::string tests;
  for (const char* folder : {"techniques", "ranks", "program"}) {
    const std::filesystem::path sources(HEADROOM_SOURCE_DIR "/tests");
    for (const auto& file : std::filesystem::directory_iterator(sources / folder)) {
      tests += read_text(file.path());
    }
  }
  for (const std::string& name : all_names()) {
    EXPECT_TRUE(contains(tests, "TEST(" + camel_case(name) + "Memory, ")) << name;
  }
}

TEST(ContractTableTest, AccumulationAddsUpToTheFullBatchInFloat64) {
  Json values = small_vit();
  values["train"]["optimizer"] = {{"name", "sgd"}, {"lr", 0.02}, {"momentum", 0.9}};
  values["train"]["precision"] = "float64";
  const Trained with = train(case_of(values, {"gradient_accumulation"}), kContractSteps);
  const Trained without = train(values, kContractSteps);
  EXPECT_LE(loss_distance(with, without), 1e-12);
  EXPECT_LE(weight_distance(with, without), 1e-12);
}

// The control of all others: a training that repeats itself, and learns.
TEST(ContractTableTest, EqualRunsAreEqual) {
  const Trained one = train(small_vit(), kContractSteps);
  const Trained other = train(small_vit(), kContractSteps);
  EXPECT_TRUE(same_bits(one, other));
  EXPECT_EQ(one.steps_peak_bytes, other.steps_peak_bytes);
  EXPECT_GT(one.gradient_norm, 0.0);
  EXPECT_FALSE(same_bits(one, train(small_vit(), kContractSteps + 1)));
}

}  // namespace
}  // namespace headroom
