// SPDX-License-Identifier: Apache-2.0
#include "tests/techniques/expect_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "techniques/technique.h"

namespace headroom {
namespace {

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

/// How far the norm of the first gradient may move. Where the model shows more of rounding, as far
/// as the rows say; but a norm twice as large is no rounding.
double gradient_tolerance_of(const Names& names, const ModelEntry& model) {
  double sum = 0.0;
  for (const std::string& name : names) sum += find_technique(name).gradient_tolerance;
  const double by_rows = model.gradient_rounding > 1.0 ? sum * model.gradient_rounding : 0.0;
  return std::min(std::max(5 * tolerance_of(names), by_rows), 0.5);
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

/// Where a step leaves parameters without a gradient, ddp has to be told so.
Json trainable(Json values) {
  Json plain = values;
  plain["techniques"] = Json::array();
  for (Json& technique : values["techniques"]) {
    const std::string option(contract_of(technique["name"].get<std::string>()).for_idle_parameters);
    if (!option.empty() && trained_once(plain, kContractSteps).idle_parameters > 0) {
      technique[option] = true;
    }
  }
  return values;
}

/// How near two trainings are to lie.
struct Nearness {
  double loss;      // of the first step, and of all where nothing rounds; relative
  double gradient;  // of the norm of the first one
  double growth;    // of rounding, in losses behind the first
  bool by_sign;     // weights step by their gradients' signs
};

void expect_kept(const Trained& with, const Trained& without, Promise promise,
                 const Nearness& near) {
  const double tolerance = near.loss;
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
  expect_near_losses(with, without, tolerance, promise == Promise::rounding ? near.growth : 1.0);
  EXPECT_LE(gradient_distance(with, without), near.gradient);
  if (tolerance <= 1e-5 && weight_distance(with, without) > tolerance) {
    EXPECT_TRUE(near.by_sign) << weight_distance(with, without);
    EXPECT_LE(share_apart(with, without, tolerance), kKeysShare);
  }
}

}  // namespace

bool lists(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Json case_of(Json values, const Names& names) {
  for (const std::string& name : names) values["techniques"].push_back(contracted(name));
  return values;
}

Names completed(Names names, const Json& model) {
  for (const Names members = names; const std::string& name : members) {
    const std::string needs(contract_of(name).needs);
    if (needs.empty() || lists(names, needs)) continue;
    names.insert(names.begin(), needs);
    if (refused(case_of(model, names))) names.erase(names.begin());
  }
  return names;
}

Trained train_stack(const Json& base, const Names& names) {
  return train(trainable(case_of(base, names)), kContractSteps);
}

void expect_contract(const Trained& with, const Json& base, const Names& names,
                     const std::string& added) {
  const Contract& contract = contract_of(added);
  Names others;
  std::ranges::remove_copy(names, std::back_inserter(others), added);
  Json control = trainable(case_of(base, others));
  if (contract.edit_control) contract.edit_control(control);
  SCOPED_TRACE(added + " added to " + control.dump());
  EXPECT_EQ(with.inactive.empty(), !does_nothing(names)) << with.inactive;
  EXPECT_EQ(with.ledger_peak_bytes, std::max(with.init_peak_bytes, with.steps_peak_bytes));
  const Trained& without = trained_once(control, kContractSteps);
  const ModelEntry& model = row_of_model(base);
  if (model.mixes_samples && find_technique(added).splits_batch) {
    EXPECT_FALSE(same_bits(with, without));  // by design: batch_statistics_test says by what
    return;
  }
  expect_kept(with, without, promise_of(contract, names),
              {.loss = tolerance_of(names),
               .gradient = gradient_tolerance_of(names, model),
               .growth = model.gradient_rounding,
               .by_sign = control["train"]["optimizer"].value("name", "") == "lion"});
}

void expect_contracts(const Json& model, const Names& names, const Names& added) {
  std::map<std::string, Trained> trained;
  for (const std::string& name : added) {
    const Json base = base_for(lists(names, "sgd") ? Contract{} : contract_of(name), model);
    const auto [entry, is_new] = trained.try_emplace(base.dump());
    if (is_new) entry->second = train_stack(base, names);
    expect_contract(entry->second, base, names, name);
  }
}

}  // namespace headroom
