// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include "models/table.h"
#include "tests/techniques/training.h"

namespace headroom {
namespace {

// It is begun, up to what it keeps for backward, and abandoned there.
TEST(RecomputedNonlinearityTest, RunsTheFunctionAgainAndNotTheProduct) {
  const ModelOptions options{.name = "vit_mini"};
  const auto model = find_model(options.name)
                         .make(options, {.image_size = 32}, ParameterFactory(at::kCPU, at::kFloat));
  Ledger ledger;
  Evidence evidence;
  Step step{.model = *model, .ledger = ledger, .evidence = evidence};
  const auto technique = find_technique("recomputed_nonlinearity").make();
  technique->wrap_model(step, Recipe{});
  const at::Tensor hidden = at::ones({2, 5, 8}).requires_grad_();
  const at::Tensor weight = at::ones({3, 8}).requires_grad_();
  int functions = 0;
  int products = 0;
  const at::Tensor y = model->second_half()(
      hidden, {},
      [&](const at::Tensor& h) {
        ++functions;
        return at::gelu(h);
      },
      [&](const at::Tensor& g) {
        const at::Tensor product = at::linear(g, weight);
        ++products;
        return product;
      });
  y.sum().backward();
  EXPECT_EQ(functions, 2);
  EXPECT_EQ(products, 1);
  EXPECT_EQ(evidence.recomputed_halves, 1);
  EXPECT_TRUE(weight.grad().defined() && hidden.grad().defined());
}

TEST(RecomputedNonlinearityTest, ComputesNoProductMore) {
  for (const Json& values : {small_vit(), small_bert(), small_gpt2()}) {
    const Trained with_it = train(with(values, {technique("recomputed_nonlinearity")}), 1);
    EXPECT_EQ(with_it.evidence.flops, trained_once(values, 1).evidence.flops);
  }
}

// The second run draws what the first one dropped.
TEST(RecomputedNonlinearityTest, RestoresTheRandomState) {
  for (Json values : {small_vit(), small_bert(), small_gpt2()}) {
    values["model"]["dropout"] = 0.1;
    values["model"]["attention"] = "eager";  // which drops weights on the CPU
    const Trained with_it = train(with(values, {technique("recomputed_nonlinearity")}), 2);
    EXPECT_TRUE(same_bits(with_it, train(values, 2)));
  }
}

}  // namespace
}  // namespace headroom
