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

/// Of bert_mini's four blocks: products with 8 x 1,024 and 256 x 8, for 8 x 16 tokens.
constexpr std::int64_t kLowRankFlops = 4L * 2 * (8 * 16) * 8 * (1024 + 256);

TEST(RecomputedNonlinearityTest, ComputesNoLargeProductMore) {
  const Json of_all = with(small_bert(), {technique("lora", {{"targets", "all_linear"}})});
  for (const Json& values : {small_vit(), small_bert(), small_gpt2(), of_all}) {
    Json recomputed = values;
    recomputed["techniques"].push_back(technique("recomputed_nonlinearity"));
    const std::int64_t more =
        train(recomputed, 1).evidence.flops - trained_once(values, 1).evidence.flops;
    // Of LoRA the two products of low rank, of which the large one is not left.
    EXPECT_EQ(more, values == of_all ? kLowRankFlops : 0);
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
