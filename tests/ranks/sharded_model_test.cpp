// SPDX-License-Identifier: Apache-2.0
// What usually breaks sharding: weights that blocks share, frozen weights, weights without a
// gradient, and more ranks than a block has numbers. Against plain tensors on one rank.
#include "techniques/sharded_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "src/core/fields.h"
#include "techniques/technique.h"
#include "tests/ranks/threads.h"

namespace headroom {
namespace {

constexpr double kRate = 0.125;
constexpr int kSteps = 3;

at::Tensor values(std::int64_t count, double first) {
  return at::arange(count, at::kDouble).mul(0.25).add(first);
}

/// Three blocks of one or two numbers each: y = x * own * shared + offset.
class OddModel final : public Model {
 public:
  static std::vector<Parameter> make() {
    return {{"blocks.0.own", values(1, 0.5).requires_grad_()},
            {"blocks.1.own", values(2, 0.75).requires_grad_()},
            {"blocks.2.own", values(2, 1.0).requires_grad_()},
            {"blocks.1.frozen", values(2, 0.25)},
            {"shared", values(2, 1.5).requires_grad_()},
            {"unused", values(3, 2.0).requires_grad_()}};
  }

  explicit OddModel(const std::vector<Parameter>& p) : Model(p) {
    for (std::size_t i = 0; i < 3; ++i) {
      add_block("blocks." + std::to_string(i) + ".", {}, [p, i](const at::Tensor& x) {
        const at::Tensor y = x * p[i].tensor * p[4].tensor;
        return i == 1 ? y + p[3].tensor : y;
      });
      if (i != 1) blocks_.back().parameters.push_back(p[4].tensor);
    }
  }

  at::Tensor output(const at::Tensor& x) {
    return logits({.inputs = x, .attention_mask = {}, .labels = {}});
  }

 private:
  Embedded embed(const Batch& batch) override { return {batch.inputs}; }
  at::Tensor head(at::Tensor x) override { return x; }
};

class Arrived final : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit Arrived(std::function<void()> call) : call_(std::move(call)) {}
  void operator()(const at::Tensor&) override { call_(); }

 private:
  std::function<void()> call_;
};

at::Tensor input_of(std::int64_t rank) { return values(2, 1.0 + static_cast<double>(rank)); }

void update(const std::vector<at::Tensor>& trained) {
  for (const at::Tensor& tensor : trained) {
    at::Tensor& gradient = at::Tensor(tensor).mutable_grad();
    if (!gradient.defined()) continue;
    tensor.detach().sub_(gradient, kRate);
    gradient.reset();
  }
}

/// The weights after a few steps of plain SGD on the mean over ranks.
std::vector<at::Tensor> expected_weights(std::int64_t ranks) {
  OddModel model(OddModel::make());
  std::vector<at::Tensor> trained;
  for (const Parameter& parameter : model.parameters()) trained.push_back(parameter.tensor);
  for (int step = 0; step < kSteps; ++step) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const at::Tensor loss = model.output(input_of(rank)).sum() * 0.01;
      torch::autograd::backward({loss / static_cast<double>(ranks)}, {});
    }
    update(trained);
  }
  for (at::Tensor& tensor : trained) tensor = tensor.detach();
  return trained;
}

/// A step as the worker's trainer makes it, of the verbs that sharding wraps.
void follow(Step& step) {
  step.backward = [](const at::Tensor& loss) { torch::autograd::backward({loss}, {}); };
  step.gradient_ready = [](std::size_t) {};
  std::size_t index = 0;
  for (const Parameter& parameter : step.model.parameters()) {
    if (parameter.tensor.requires_grad()) {
      torch::autograd::impl::set_post_acc_grad_hooks(
          parameter.tensor,
          std::make_unique<Arrived>([&step, index] { step.parameter_ready(index); }));
    }
    ++index;
  }
}

void expect_equal_training(std::int64_t ranks, const ShardingOptions& options) {
  const std::vector<at::Tensor> expected = expected_weights(ranks);
  std::atomic<int> done = 0;
  on_ranks(ranks, [&](ProcessGroup& group) {
    Ledger ledger;
    Evidence evidence;
    Recipe recipe;
    recipe.dtype = at::kDouble;
    OddModel model(OddModel::make());
    Step step{.model = model, .ledger = ledger, .evidence = evidence, .group = &group};
    follow(step);
    ShardedModel::take_over(step, recipe, options);
    for (int i = 0; i < kSteps; ++i) {
      step.backward(model.output(input_of(group.rank())).sum() * 0.01);
      step.collect_gradients();
      update(step.trained);
      step.publish_weights();
    }
    step.with_weights([&] {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Parameter& parameter = model.parameters()[i];
        const double off = (parameter.tensor.detach() - expected[i]).abs().max().item<double>();
        EXPECT_LE(off, 1e-12) << parameter.name << " on rank " << group.rank();
      }
    });
    ++done;
  });
  EXPECT_EQ(done, ranks);
}

class OddWeightsTest : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(, OddWeightsTest, testing::Values(1, 2, 3, 5),
                         testing::PrintToStringParamName());

TEST_P(OddWeightsTest, SharedUpdates) { expect_equal_training(GetParam(), {}); }

TEST_P(OddWeightsTest, SharedGradients) {
  expect_equal_training(GetParam(), {.sharding = Sharding::gradients});
}

TEST_P(OddWeightsTest, SharedWeights) {
  expect_equal_training(GetParam(), {.sharding = Sharding::weights});
}

TEST_P(OddWeightsTest, SharedWeightsOfNeighbours) {
  expect_equal_training(GetParam(), {.sharding = Sharding::weights, .min_parameters = 4});
}

TEST_P(OddWeightsTest, SharedWeightsInOneUnit) {
  expect_equal_training(GetParam(), {.sharding = Sharding::weights, .one_unit = true});
}

/// How many gathers had begun when each block ran, under fsdp with these options.
std::vector<std::int64_t> gathers_by_block(const nlohmann::ordered_json& options) {
  std::vector<std::int64_t> seen;
  on_ranks(2, [&](ProcessGroup& group) {
    const auto fsdp = find_technique("fsdp").make();
    read_fields(options, "fsdp", [&](Fields& f) { fsdp->fields(f); });
    Ledger ledger;
    Evidence evidence;
    Recipe recipe;
    recipe.dtype = at::kDouble;
    fsdp->edit_recipe(recipe);
    OddModel model(OddModel::make());
    for (Block& block : model.blocks()) {
      block.run = [&, inner = std::move(block.run)](const at::Tensor& x) {
        if (group.rank() == 0) seen.push_back(evidence.gathers);
        return inner(x);
      };
    }
    Step step{.model = model, .ledger = ledger, .evidence = evidence, .group = &group};
    follow(step);
    fsdp->split_parameters(step, recipe);
    const at::NoGradGuard no_grad;
    model.output(input_of(group.rank()));
  });
  return seen;
}

// The root is one unit. So is each block, the second of which has its frozen weights apart.
TEST(FsdpOptions, RuleWhenBlocksAreGathered) {
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(gathers_by_block(nlohmann::ordered_json::object()), (Counts{2, 4, 5}));
  EXPECT_EQ(gathers_by_block({{"prefetch_forward", true}}), (Counts{4, 5, 5}));
  EXPECT_EQ(gathers_by_block({{"min_parameters", 100}}), (Counts{3, 3, 3}));
  // All trained weights and all frozen ones, before anything runs.
  EXPECT_EQ(gathers_by_block({{"one_unit", true}, {"min_parameters", 100}}), (Counts{2, 2, 2}));
}

}  // namespace
}  // namespace headroom
