// SPDX-License-Identifier: Apache-2.0
// Every technique of the table, alone and in every pair that works, in both orders: what it adds to
// a case leaves the case's numbers as its contract says.
#include "tests/techniques/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "techniques/technique.h"

namespace headroom {
namespace {

constexpr int kSteps = 3;

using Names = std::vector<std::string>;

bool lists(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Json case_of(Json values, const Names& names) {
  for (const std::string& name : names) values["techniques"].push_back(contracted(name));
  return values;
}

/// Controls serve many pairs.
const Trained& trained_once(const Json& values) {
  static std::map<std::string, Trained> done;
  const auto [entry, is_new] = done.try_emplace(values.dump());
  if (is_new) entry->second = train(values, kSteps);
  return entry->second;
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
    return name == "zero_1" || name == "zero_2" || name == "fsdp" || name == "cpu_offload";
  };
  if (lists(names, "on_device_init") && !lists(names, "bfloat16") &&
      std::ranges::none_of(names, shares)) {
    return true;
  }
  const auto at = [&names](std::string_view name) { return std::ranges::find(names, name); };
  return lists(names, "activation_checkpointing") &&
         at("activation_offload") < at("activation_checkpointing");
}

double tolerance_of(const Names& names) {
  double tolerance = 1e-5;
  for (const std::string& name : names) {
    tolerance = std::max(tolerance, contract_of(name).loss_tolerance);
  }
  return tolerance;
}

void expect_kept(const Trained& with, const Trained& without, const Contract& added,
                 double tolerance) {
  if (added.promise == Promise::same_bits) {
    EXPECT_TRUE(same_bits(with, without))
        << "losses " << loss_distance(with, without) << ", weights "
        << weight_distance(with, without) << ", gradients " << gradient_distance(with, without);
    return;
  }
  if (added.promise == Promise::same_training) {
    EXPECT_EQ(loss_distance(with, without), 0.0);
    EXPECT_EQ(weight_distance(with, without), 0.0);
    EXPECT_LE(gradient_distance(with, without), tolerance);
    return;
  }
  EXPECT_LE(loss_distance(with, without), tolerance);
  EXPECT_LE(gradient_distance(with, without), 5 * tolerance);
  if (tolerance <= 1e-5) {
    EXPECT_LE(weight_distance(with, without), tolerance);
  }
}

/// Holds a stack against the same stack without one of its members.
void expect_contract(const Json& model, const Names& names, const std::string& added) {
  const Contract& contract = contract_of(added);
  const Json base = base_for(lists(names, "sgd") ? Contract{} : contract, model);
  Names others;
  std::ranges::remove_copy(names, std::back_inserter(others), added);
  Json control = case_of(base, others);
  if (contract.edit_control) contract.edit_control(control);
  SCOPED_TRACE(added + " added to " + control.dump());
  const Trained with = train(case_of(base, names), kSteps);
  EXPECT_EQ(with.inactive.empty(), !does_nothing(names)) << with.inactive;
  EXPECT_EQ(with.ledger_peak_bytes, std::max(with.init_peak_bytes, with.steps_peak_bytes));
  expect_kept(with, trained_once(control), contract, tolerance_of(names));
}

/// With what the members need to be active, where that is allowed.
Names completed(Names names) {
  for (const Names members = names; const std::string& name : members) {
    const std::string needs(contract_of(name).needs);
    if (needs.empty() || lists(names, needs)) continue;
    names.insert(names.begin(), needs);
    if (refused(case_of(small_vit(), names))) names.erase(names.begin());
  }
  return names;
}

Names all_names() {
  Names names;
  for (const TechniqueEntry& entry : technique_table()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> working_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& first : all_names()) {
    for (const std::string& second : all_names()) {
      if (first != second && !refused(case_of(small_vit(), {first, second}))) {
        pairs.emplace_back(first, second);
      }
    }
  }
  return pairs;
}

class ContractTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, ContractTest, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

TEST_P(ContractTest, HoldsAloneOnAnImageModel) {
  expect_contract(small_vit(), completed({GetParam()}), GetParam());
}

TEST_P(ContractTest, HoldsAloneOnATextModel) {
  expect_contract(small_bert(), completed({GetParam()}), GetParam());
}

TEST_P(ContractTest, HoldsAloneOnADecoder) {
  expect_contract(small_gpt2(), completed({GetParam()}), GetParam());
}

class PairTest : public testing::TestWithParam<std::pair<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(, PairTest, testing::ValuesIn(working_pairs()), [](const auto& test) {
  return test.param.first + "_then_" + test.param.second;
});

TEST_P(PairTest, EachMemberKeepsItsContract) {
  const Names names = completed({GetParam().first, GetParam().second});
  expect_contract(small_vit(), names, GetParam().first);
  expect_contract(small_vit(), names, GetParam().second);
}

TEST(ContractTableTest, HasNoContractWithoutATechnique) {
  for (const Contract& contract : contracts()) EXPECT_TRUE(lists(all_names(), contract.technique));
}

TEST(ContractTableTest, AccumulationAddsUpToTheFullBatchInFloat64) {
  Json values = base_for(contract_of("gradient_accumulation"), small_vit());
  values["train"]["precision"] = "float64";
  const Trained with = train(case_of(values, {"gradient_accumulation"}), kSteps);
  const Trained without = train(values, kSteps);
  EXPECT_LE(loss_distance(with, without), 1e-12);
  EXPECT_LE(weight_distance(with, without), 1e-12);
}

// The control of all others: a training that repeats itself, and learns.
TEST(ContractTableTest, EqualRunsAreEqual) {
  const Trained one = train(small_vit(), kSteps);
  const Trained other = train(small_vit(), kSteps);
  EXPECT_TRUE(same_bits(one, other));
  EXPECT_EQ(one.steps_peak_bytes, other.steps_peak_bytes);
  EXPECT_GT(one.gradient_norm, 0.0);
  EXPECT_FALSE(same_bits(one, train(small_vit(), kSteps + 1)));
}

}  // namespace
}  // namespace headroom
