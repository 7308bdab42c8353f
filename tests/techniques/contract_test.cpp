// SPDX-License-Identifier: Apache-2.0
// Every technique of the table, alone and in every pair that works, in both orders: what it adds to
// a case leaves the case's numbers as its contract says.
#include "tests/techniques/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "models/table.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/optimizers/update_rule.h"
#include "techniques/technique.h"
#include "tests/core/messages.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

constexpr int kContractSteps = 2;

using Names = std::vector<std::string>;

bool lists(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Json case_of(Json values, const Names& names) {
  for (const std::string& name : names) values["techniques"].push_back(contracted(name));
  return values;
}

/// Sums in another order differ in their last bits, and Adam makes a whole step of them where a
/// gradient is near 0: SGD is linear in it.
Json base_for(const Contract& added, Json values) {
  if (added.promise == Promise::same_sums) {
    values["train"]["optimizer"] = {{"name", "sgd"}, {"lr", 0.02}, {"momentum", 0.9}};
  }
  return values;
}

/// What `names` do on the CPU although they are listed.
bool does_nothing(const Names& names) {
  const auto shares = [](const std::string& name) {
    return name == "zero_1" || name == "zero_2" || name == "fsdp" || name == "cpu_offload" ||
           name == "layer_streaming";
  };
  if (lists(names, "on_device_init") && !lists(names, "bfloat16") &&
      std::ranges::none_of(names, shares)) {
    return true;
  }
  const auto at = [&names](std::string_view name) { return std::ranges::find(names, name); };
  return lists(names, "activation_checkpointing") &&
         (at("activation_offload") < at("activation_checkpointing") ||
          at("compressed_activations") < at("activation_checkpointing"));
}

double tolerance_of(const Names& names) {
  double tolerance = 1e-5;
  for (const std::string& name : names) {
    tolerance = std::max(tolerance, contract_of(name).loss_tolerance);
  }
  return tolerance;
}

/// What a technique promises beside others: which numbers are rounded together depends on what
/// blocks save, and on its order in memory.
Promise promise_of(const Contract& added, const Names& names) {
  const bool changes_what_is_saved = added.technique == "activation_checkpointing" ||
                                     added.technique == "layer_streaming" ||
                                     added.technique == "recomputed_nonlinearity";
  const bool is_rounded = lists(names, "compressed_activations");
  return changes_what_is_saved && is_rounded ? Promise::rounding : added.promise;
}

/// The share of the weights' numbers that lie further apart than `tolerance`.
double share_apart(const Trained& with, const Trained& without, double tolerance) {
  std::int64_t apart = 0;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < with.weights.size(); ++i) {
    const at::Tensor distance = with.weights[i].sub(without.weights[i]).abs();
    apart += distance.gt(tolerance).sum().item<std::int64_t>();
    all += distance.numel();
  }
  return static_cast<double>(apart) / static_cast<double>(all);
}

// Lion steps by the sign of a gradient that is 0 but for its last bits, too: that of the keys'
// biases, which are no more than this share of the weights.
constexpr double kKeysShare = 0.005;

/// Losses behind the first follow gradients, of which some models show more of rounding.
void expect_near_losses(const Trained& with, const Trained& without, double tolerance,
                        double gradient_rounding) {
  EXPECT_LE(std::abs(with.losses.front() / without.losses.front() - 1.0), tolerance);
  EXPECT_LE(loss_distance(with, without), tolerance * gradient_rounding);
}

void expect_kept(const Trained& with, const Trained& without, Promise promise, double tolerance,
                 double gradient_rounding, bool by_sign) {
  if (promise == Promise::same_bits) {
    EXPECT_TRUE(same_bits(with, without))
        << "losses " << loss_distance(with, without) << ", weights "
        << weight_distance(with, without) << ", gradients " << gradient_distance(with, without);
    return;
  }
  if (promise == Promise::same_training) {
    EXPECT_EQ(loss_distance(with, without), 0.0);
    EXPECT_EQ(weight_distance(with, without), 0.0);
    EXPECT_EQ(buffer_distance(with, without), 0.0);
    EXPECT_LE(gradient_distance(with, without), tolerance);
    return;
  }
  if (promise == Promise::same_start) {
    EXPECT_LE(std::abs(with.losses.front() / without.losses.front() - 1.0), tolerance);
    EXPECT_NE(with.losses.back(), without.losses.back());
    return;
  }
  expect_near_losses(with, without, tolerance,
                     promise == Promise::rounding ? gradient_rounding : 1.0);
  EXPECT_LE(gradient_distance(with, without), 5 * tolerance);
  if (tolerance <= 1e-5 && weight_distance(with, without) > tolerance) {
    EXPECT_TRUE(by_sign) << weight_distance(with, without);
    EXPECT_LE(share_apart(with, without, tolerance), kKeysShare);
  }
}

/// Holds a stack against the same stack without one of its members.
void expect_contract(const Trained& with, const Json& base, const Names& names,
                     const std::string& added) {
  const Contract& contract = contract_of(added);
  Names others;
  std::ranges::remove_copy(names, std::back_inserter(others), added);
  Json control = case_of(base, others);
  if (contract.edit_control) contract.edit_control(control);
  SCOPED_TRACE(added + " added to " + control.dump());
  EXPECT_EQ(with.inactive.empty(), !does_nothing(names)) << with.inactive;
  EXPECT_EQ(with.ledger_peak_bytes, std::max(with.init_peak_bytes, with.steps_peak_bytes));
  expect_kept(with, trained_once(control, kContractSteps), promise_of(contract, names),
              tolerance_of(names),
              find_model(control["model"]["name"].get<std::string>()).gradient_rounding,
              control["train"]["optimizer"].value("name", "") == "lion");
}

/// Holds it against the stack without each of `added`. One training serves all that share a base.
void expect_contracts(const Json& model, const Names& names, const Names& added) {
  std::map<std::string, Trained> trained;
  for (const std::string& name : added) {
    const Json base = base_for(lists(names, "sgd") ? Contract{} : contract_of(name), model);
    const auto [entry, is_new] = trained.try_emplace(base.dump());
    if (is_new) entry->second = train(case_of(base, names), kContractSteps);
    expect_contract(entry->second, base, names, name);
  }
}

/// Whether one of them works on a decoder alone.
bool needs_decoder(const Names& names) {
  return std::ranges::any_of(names, [](const auto& name) { return contract_of(name).of_tokens; });
}

/// What they are tried on together.
Json model_for(const Names& names, const Json& otherwise) {
  return needs_decoder(names) ? small_gpt2() : otherwise;
}

/// With what the members need to be active, where that is allowed.
Names completed(Names names) {
  for (const Names members = names; const std::string& name : members) {
    const std::string needs(contract_of(name).needs);
    if (needs.empty() || lists(names, needs)) continue;
    names.insert(names.begin(), needs);
    if (refused(case_of(model_for(names, small_vit()), names))) names.erase(names.begin());
  }
  return names;
}

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

std::vector<std::pair<std::string, std::string>> working_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& first : all_names()) {
    for (const std::string& second : all_names()) {
      const Json values = model_for({first, second}, small_vit());
      if (first != second && !refused(case_of(values, {first, second}))) {
        pairs.emplace_back(first, second);
      }
    }
  }
  return pairs;
}

class ContractTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, ContractTest, testing::ValuesIn(names_on_the_cpu()),
                         [](const auto& test) { return test.param; });

TEST_P(ContractTest, HoldsAloneOnAnImageModel) {
  if (needs_decoder({GetParam()})) {
    EXPECT_TRUE(refused(case_of(small_vit(), {GetParam()})));
  } else {
    expect_contracts(small_vit(), completed({GetParam()}), {GetParam()});
  }
}

TEST_P(ContractTest, HoldsAloneOnATextModel) {
  if (needs_decoder({GetParam()})) {
    EXPECT_TRUE(refused(case_of(small_bert(), {GetParam()})));
  } else {
    expect_contracts(small_bert(), completed({GetParam()}), {GetParam()});
  }
}

TEST_P(ContractTest, HoldsAloneOnADecoder) {
  for (const Json& decoder : {small_gpt2(), small_llama()}) {
    expect_contracts(decoder, completed({GetParam()}), {GetParam()});
  }
}

/// With small steps: normalisation by few numbers makes more of rounding, and Adam a whole step.
Json steady_resnet() {
  Json values = mini_resnet();
  values["train"]["optimizer"]["lr"] = 1e-4;
  return values;
}

/// Batch normalisation: what a technique makes of the batch's statistics shows in all numbers, and
/// in the running ones.
TEST_P(ContractTest, HoldsAloneOnAConvolutionalModel) {
  const Names names = completed({GetParam()});
  const Contract& contract = contract_of(GetParam());
  if (contract.of_tokens || contract.of_one_shape) {
    EXPECT_TRUE(refused(case_of(steady_resnet(), names)));
  } else if (find_technique(GetParam()).splits_batch) {
    const Trained with = train(case_of(steady_resnet(), names), kContractSteps);
    EXPECT_EQ(with.inactive, "");
    EXPECT_FALSE(same_bits(with, trained_once(steady_resnet(), kContractSteps)));
  } else {
    expect_contracts(steady_resnet(), names, {GetParam()});
  }
}

/// BigBird: heads have random blocks of their own, and a pooler has no gradient.
TEST_P(ContractTest, HoldsAloneWhereAttentionIsByBlocks) {
  const Json values = case_of(small_bigbird(), completed({GetParam()}));
  if (GetParam() == "tensor_parallel") {
    EXPECT_EQ(message_of<Unsupported>([&] { train(values, 1); }),
              "tensor_parallel: the blocks of bigbird_mini have no layers that ranks can cut");
  } else if (GetParam() == "lora") {
    EXPECT_EQ(message_of<Unsupported>([&] { train(values, 1); }),
              "lora: no layer of the model's blocks is a target");
  } else if (needs_decoder({GetParam()})) {
    EXPECT_TRUE(refused(values));
  } else if (GetParam() != "ddp") {  // below
    expect_contracts(small_bigbird(), completed({GetParam()}), {GetParam()});
  }
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
  Json values = model_for({std::string(contract.technique)}, mini_vit());
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
    const Names names = completed({GetParam()});
    const Json values = under(optimizer, contract_of(GetParam()));
    if (refused(case_of(values, names))) {
      EXPECT_FALSE(optimizer.works_on_parts) << optimizer.name;
    } else {
      expect_contract(train(case_of(values, names), kContractSteps), values, names, GetParam());
    }
  }
}

class PairTest : public testing::TestWithParam<std::pair<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(, PairTest, testing::ValuesIn(working_pairs()), [](const auto& test) {
  return test.param.first + "_then_" + test.param.second;
});

TEST_P(PairTest, EachMemberKeepsItsContract) {
  const Names names = completed({GetParam().first, GetParam().second});
  expect_contracts(model_for(names, mini_vit()), names, {GetParam().first, GetParam().second});
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
  Json values = base_for(contract_of("gradient_accumulation"), small_vit());
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
