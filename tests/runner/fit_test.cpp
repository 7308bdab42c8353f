// SPDX-License-Identifier: Apache-2.0
// The search of `headroom fit`, with memory as a formula in place of plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/runner/fit_search.h"

namespace headroom {
namespace {

TechniqueInfo technique(const std::string& name, FitCost cost = {}, std::string changes = "") {
  TechniqueInfo info;
  info.name = name;
  info.fit_cost = cost;
  info.changes = std::move(changes);
  return info;
}

Catalog some_catalog() {
  Catalog catalog;
  catalog.techniques = {
      technique("optimizer_in_backward", {.whole_batch = 1}),
      technique("activation_checkpointing", {.recompute = 1}),
      technique("optimizer_offload", {.host_link = 1}),
      technique("activation_offload", {.host_link = 2}),
      technique("bfloat16", {.numerics = 2}, "16-bit weights"),
      technique("on_device_init"),
      technique("sgd", {.numerics = 4}, "other optimizer"),
      technique("mixed_precision", {.numerics = 1}, "16-bit products"),
  };
  Field dtype;
  dtype.name = "dtype";
  dtype.default_value = "float16";
  catalog.techniques.back().fields = {dtype};
  return catalog;
}

std::vector<std::string> names(const std::vector<FitStack>& stacks) {
  std::vector<std::string> result;
  for (const FitStack& stack : stacks) result.push_back(stack.name);
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FitStacks, stand_cheapest_first_and_once) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  EXPECT_GE(stacks.size(), 15u);
  EXPECT_EQ(stacks[0].name, "plain");
  EXPECT_EQ(stacks[1].name, "fused");
  EXPECT_TRUE(stacks[1].is_fused);
  EXPECT_TRUE(stacks[1].techniques.empty());
  EXPECT_TRUE(std::is_sorted(stacks.begin(), stacks.end(),
                             [](const auto& a, const auto& b) { return a.cost < b.cost; }));
  const auto all = names(stacks);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  for (const FitStack& stack : stacks) {
    EXPECT_EQ(stack.cost.numerics == 0, stack.changes.empty()) << stack.name;
    EXPECT_EQ(stack.accumulates(), !contains(stack.name, "optimizer_in_backward")) << stack.name;
    for (const auto& entry : stack.techniques) {
      if (entry["name"] == "mixed_precision") {
        EXPECT_EQ(entry["dtype"], "bfloat16");
      }
    }
  }
}

TEST(FitStacks, without_a_free_implementation_are_not_fused) {
  const auto stacks = fit_stacks(some_catalog(), {false, "float16"});
  const auto all = names(stacks);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  for (const FitStack& stack : stacks) {
    EXPECT_FALSE(stack.is_fused) << stack.name;
    EXPECT_FALSE(contains(stack.name, "fused")) << stack.name;
  }
}

TEST(FitStacks, leave_out_what_the_catalog_lacks_or_excludes) {
  Catalog catalog = some_catalog();
  std::erase_if(catalog.techniques, [](const auto& info) { return info.name == "sgd"; });
  catalog.techniques[0].excludes = {"optimizer_offload"};
  ASSERT_EQ(catalog.techniques[0].name, "optimizer_in_backward");
  const auto stacks = fit_stacks(catalog, {true, "bfloat16"});
  EXPECT_LT(stacks.size(), fit_stacks(some_catalog(), {true, "bfloat16"}).size());
  for (const std::string& name : names(stacks)) {
    EXPECT_FALSE(contains(name, "sgd")) << name;
    EXPECT_FALSE(contains(name, "optimizer_in_backward") && contains(name, "optimizer_offload"))
        << name;
  }
}

TEST(FitStacks, of_several_ranks_join_them) {
  const std::vector<std::string> joining = {"ddp", "zero_1", "zero_2", "fsdp"};
  const std::vector<FitCost> costs = {{}, {}, {.rank_link = 1}, {.rank_link = 2}};
  Catalog catalog = some_catalog();
  for (std::size_t i = 0; i < joining.size(); ++i) {
    catalog.techniques.push_back(technique(joining[i], costs[i]));
    catalog.techniques.back().joins_ranks = true;
  }
  catalog.techniques.push_back(technique("cpu_offload", {.host_link = 1}));
  catalog.techniques.back().excludes = {"ddp", "zero_1", "zero_2"};
  const auto stacks = fit_stacks(catalog, {true, "bfloat16", 4});
  EXPECT_GE(stacks.size(), 24u);
  EXPECT_EQ(stacks[0].name, "on_device_init+fused+ddp");
  EXPECT_TRUE(std::is_sorted(stacks.begin(), stacks.end(),
                             [](const auto& a, const auto& b) { return a.cost < b.cost; }));
  std::set<std::string> seen;
  for (const FitStack& stack : stacks) {
    EXPECT_TRUE(seen.insert(stack.name).second) << stack.name;
    std::set<std::string> own;
    int joins = 0;
    for (const auto& entry : stack.techniques) {
      const auto name = entry["name"].get<std::string>();
      EXPECT_TRUE(own.insert(name).second) << stack.name;
      joins += static_cast<int>(std::ranges::count(joining, name));
    }
    EXPECT_EQ(joins, 1) << stack.name;
  }
}

TEST(LargestFitting, is_found_and_its_successor_asked_in_few_steps) {
  for (const std::int64_t first : {1, 3, 8}) {
    for (std::int64_t last = first; last <= 70; ++last) {
      for (std::int64_t capacity = first; capacity <= 75; ++capacity) {
        std::set<std::int64_t> asked;
        const auto found = largest_fitting(first, last, [&](std::int64_t n) {
          EXPECT_TRUE(asked.insert(n).second) << "asked twice: " << n;
          EXPECT_GT(n, first);
          EXPECT_LE(n, last);
          return n <= capacity;
        });
        EXPECT_EQ(found, std::min(last, capacity));
        if (found < last) {
          EXPECT_TRUE(asked.contains(found + 1)) << found;
        }
        EXPECT_LE(asked.size(), 14u);
      }
    }
  }
}

/// Gigabytes of a stack by a formula, and what was asked of it.
struct Model {
  double budget = 0;
  double written_extra = 0;  // what a case as written takes beyond its plan

  std::vector<std::tuple<std::string, FitSize>> asked = {};
  std::vector<FitSize> verified = {};

  static double fixed(const FitStack& stack) {
    double weights = contains(stack.name, "bfloat16") ? 2 : 4;
    const bool has_state =
        !contains(stack.name, "optimizer_offload") && !contains(stack.name, "sgd");
    return weights * (has_state ? 3 : 1);
  }

  static double needs(const FitStack& stack, FitSize size) {
    const bool keeps_little = contains(stack.name, "activation");
    const double sample = (keeps_little ? 0.11 : 0.73) * fixed(stack) / 12;
    const double gradients = fixed(stack) / 3;
    return fixed(stack) + sample * static_cast<double>(size.micro_batch()) +
           (size.micro_batches > 1 ? gradients : 0.0);
  }

  FitPlan plan_of(const FitStack& stack, double gigabytes) const {
    FitPlan plan;
    plan.driver_peak_bytes = std::llround(gigabytes * 1e9);
    if (gigabytes <= budget) return plan;
    plan.status = Status::out_of_memory;
    plan.missing_bytes = std::llround((gigabytes - budget) * 1e9);
    plan.never_fits = fixed(stack) > budget;
    return plan;
  }

  FitSearch search(const std::vector<FitStack>& stacks, FitQuestion question) {
    return {stacks, question,
            [this, question](const FitStack& stack, FitSize size) {
              asked.emplace_back(stack.name, size);
              EXPECT_EQ(size.batch_size % size.micro_batches, 0);
              EXPECT_TRUE(stack.accumulates() || size.micro_batches == 1) << stack.name;
              EXPECT_LE(size.batch_size, std::max(question.batch_size, question.max_samples));
              return plan_of(stack, needs(stack, size));
            },
            [this](const FitStack& stack, FitSize size) {
              verified.push_back(size);
              return plan_of(stack, needs(stack, size) + written_extra);
            }};
  }
};

/// The stack and size that trying all of them finds.
std::optional<std::pair<std::size_t, FitSize>> try_all(const std::vector<FitStack>& stacks,
                                                       std::int64_t batch, double budget) {
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    for (std::int64_t count = 1; count <= batch; ++count) {
      if (batch % count != 0 || (count > 1 && !stacks[i].accumulates())) continue;
      if (Model::needs(stacks[i], {batch, count}) <= budget) {
        return std::pair(i, FitSize{batch, count});
      }
    }
  }
  return std::nullopt;
}

TEST(FitSearch, finds_what_trying_all_finds) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  std::set<std::size_t> answers;
  for (const std::int64_t batch : {1, 7, 8, 12, 64}) {
    for (double budget = 1.0; budget < 70.0; budget *= 1.07) {
      Model model{.budget = budget};
      const auto answer = model.search(stacks, {batch, 512}).find();
      const auto expected = try_all(stacks, batch, budget);
      ASSERT_EQ(answer.has_value(), expected.has_value()) << batch << " in " << budget;
      if (!answer) continue;
      EXPECT_EQ(answer->stack, expected->first) << batch << " in " << budget;
      EXPECT_EQ(answer->size, expected->second) << batch << " in " << budget;
      EXPECT_EQ(model.verified, std::vector{answer->size});
      answers.insert(answer->stack);
    }
  }
  EXPECT_GE(answers.size(), 4u);  // the budgets tell stacks apart
}

TEST(FitSearch, knows_that_one_sample_more_does_not_fit) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  for (const std::int64_t batch : {6, 16}) {
    for (double budget = 12.1; budget < 60.0; budget *= 1.05) {
      Model model{.budget = budget};
      const auto answer = model.search(stacks, {batch, 48}).find();
      ASSERT_TRUE(answer);
      const FitStack& stack = stacks[answer->stack];
      const std::int64_t n = answer->largest_micro_batch;
      const bool is_cut = answer->size.micro_batches > 1;
      const auto size = [&](std::int64_t samples) {
        return is_cut ? FitSize{2 * samples, 2} : FitSize{samples, 1};
      };
      EXPECT_LE(Model::needs(stack, size(n)), budget);
      EXPECT_LE(answer->size.micro_batch(), n);
      const bool at_the_end = n == (is_cut ? batch - 1 : 48);
      if (is_cut && at_the_end) {
        EXPECT_GT(Model::needs(stack, {batch, 1}), budget);
      } else if (!at_the_end) {
        EXPECT_GT(Model::needs(stack, size(n + 1)), budget);
      }
      ASSERT_EQ(answer->one_more.has_value(), is_cut || !at_the_end);
      if (answer->one_more) {
        EXPECT_EQ(answer->one_more->status, Status::out_of_memory);
      }
    }
  }
}

TEST(FitSearch, asks_for_no_batch_that_the_data_set_has_not) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  // Plain: 12 + 0.73 a sample, which misses; cut, 4 of gradients more: 10 samples fit.
  Model model{.budget = 23.5};
  const auto answer = model.search(stacks, {16, 20}).find();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->stack, 0u);
  EXPECT_EQ(answer->largest_micro_batch, 10);
  EXPECT_FALSE(answer->one_more);  // not asked, so not known
}

TEST(FitSearch, plans_nothing_twice_and_cuts_nothing_that_never_fits) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  Model model{.budget = 3.0};
  auto search = model.search(stacks, {8, 512});
  const auto answer = search.find();
  ASSERT_TRUE(answer);
  search.compare(*answer);
  for (std::size_t i = 0; i < model.asked.size(); ++i) {
    const auto& [name, size] = model.asked[i];
    EXPECT_EQ(std::count(model.asked.begin(), model.asked.end(), model.asked[i]), 1) << name;
    if (name == "plain") {  // 12 GB of weights and state
      EXPECT_EQ(size.batch_size, 8);
    }
  }
}

TEST(FitSearch, goes_on_where_the_case_as_written_does_not_fit) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  ASSERT_EQ(stacks[0].name, "plain");
  // Plain: 12 + 4 of gradients + 0.73 a sample. Planned, 4 samples fit; as written, 2.
  Model model{.budget = 19.0, .written_extra = 1.5};
  const auto answer = model.search(stacks, {8, 512}).find();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->stack, 0u);
  EXPECT_EQ(answer->largest_micro_batch, 4);
  EXPECT_EQ(model.verified, (std::vector<FitSize>{{8, 1}, {8, 2}, {8, 4}}));
  EXPECT_EQ(answer->size, (FitSize{8, 4}));
}

TEST(FitSearch, leaves_out_what_can_not_be_planned) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  const auto only_sgd = [](const FitStack& stack, FitSize) {
    FitPlan plan;
    if (!contains(stack.name, "sgd")) plan.status = Status::unsupported;
    return plan;
  };
  FitSearch search(stacks, {8, 16}, only_sgd, only_sgd);
  const auto answer = search.find();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(contains(stacks[answer->stack].name, "sgd"));
  EXPECT_EQ(answer->largest_micro_batch, 16);
  EXPECT_FALSE(answer->one_more);  // not asked, so not known
  const auto trials = search.compare(*answer);
  const auto listed = unbeaten(stacks, trials);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (listed[i]) {
      EXPECT_TRUE(contains(stacks[i].name, "sgd"));
    }
  }
}

TEST(FitSearch, names_the_nearest_where_nothing_fits) {
  const auto stacks = fit_stacks(some_catalog(), {true, "bfloat16"});
  Model model{.budget = 1.5};
  auto search = model.search(stacks, {8, 512});
  EXPECT_FALSE(search.find());
  const auto nearest = search.nearest();
  ASSERT_TRUE(nearest);
  for (const auto& [name, size] : model.asked) {
    const auto stack = std::find_if(stacks.begin(), stacks.end(),
                                    [&, &n = name](const auto& one) { return one.name == n; });
    EXPECT_GE(Model::needs(*stack, size) + 1e-6,
              Model::needs(stacks[nearest->stack], nearest->size));
  }
  EXPECT_GT(nearest->plan.missing_bytes, 0);
}

TEST(Unbeaten, is_what_has_less_of_something) {
  std::vector<FitStack> stacks(6);
  stacks[3].cost.numerics = 1;
  stacks[4].cost.host_link = 1;
  const auto trial = [](std::size_t stack, std::int64_t bytes, std::int64_t ns) {
    FitTrial result{stack, {}, {}};
    result.plan.driver_peak_bytes = bytes;
    result.plan.step_time = {ns, ns, ns};
    return result;
  };
  std::vector<FitTrial> trials = {trial(0, 10, 10), trial(1, 9, 10), trial(2, 5, 20),
                                  trial(3, 9, 10),  trial(4, 8, 10), trial(5, 9, 10)};
  EXPECT_EQ(unbeaten(stacks, trials), (std::vector{false, true, true, false, true, false}));
  trials[3].plan.step_time = {2, 2, 2};
  trials[1].plan.status = Status::unsupported;
  EXPECT_EQ(unbeaten(stacks, trials), (std::vector{false, false, true, true, true, true}));
}

}  // namespace
}  // namespace headroom
