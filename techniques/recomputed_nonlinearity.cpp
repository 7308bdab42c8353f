// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>

#include <utility>

#include "src/core/error.h"
#include "techniques/recompute.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Of the second half of each feed-forward layer, the nonlinear function (GELU, with the dropout
/// behind it) and the product that reads its result, (B, T, I), the input alone is kept for
/// backward. Without it both are: the function's gradient reads its input, and the product's weight
/// gradient its output. The function runs again when backward comes to the product, which does not
/// run again.
class RecomputedNonlinearity final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override {
    recipe.restores_random_state = recipe.model.dropout > 0.0;
  }
  void check_recipe(const Recipe& recipe) const override;
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void RecomputedNonlinearity::check_recipe(const Recipe& recipe) const {
  if (find_model(recipe.model.name).between != Between::tokens) {
    throw Unsupported("recomputed_nonlinearity: the blocks of " + recipe.model.name +
                      " have no feed-forward layer");
  }
}

void RecomputedNonlinearity::wrap_model(Step& step, const Recipe& recipe) const {
  const RecomputeOptions options{.device = recipe.device,
                                 .random_state = recipe.restores_random_state,
                                 .count = &step.evidence.recomputed_halves};
  SecondHalf& half = step.model.second_half();
  half = [options, inner = std::move(half)](at::Tensor hidden, at::Tensor held,
                                            const BlockFunction& nonlinear,
                                            const BlockFunction& product) {
    if (!at::GradMode::is_enabled()) {
      return inner(std::move(hidden), std::move(held), nonlinear, product);
    }
    const BlockFunction both = [inner, nonlinear, product](const at::Tensor& x) {
      return inner(x, {}, nonlinear, product);
    };
    return recompute_in_backward(both, options)(hidden);
  };
}

std::string RecomputedNonlinearity::why_inactive(const Evidence& evidence, const Recipe&) const {
  return evidence.recomputed_halves > 0 ? "" : "no nonlinear function ran again";
}

}  // namespace

extern constinit const TechniqueEntry kRecomputedNonlinearity{
    .name = "recomputed_nonlinearity",
    .summary = "of feed-forward layers' nonlinear functions the input alone is kept",
    .saves =
        "4 L B T I of feed-forward layers of width I; where the function is written out, as "
        "GPT-2's, 16 L B T I",
    .costs = "those functions once more; no product runs again",
    .source =
        "Tempo's in-place GELU, arXiv:2210.10246, which keeps the output and inverts; In-Place "
        "Activated BatchNorm, arXiv:1712.02616",
    .make = &make_technique<RecomputedNonlinearity>,
    .fit_cost = {.recompute = 1},
};

}  // namespace headroom
