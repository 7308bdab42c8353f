// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "techniques/recompute.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Makes each group of `size` neighbouring blocks one function that is run again in backward. The
/// group's first block runs them all; the others hand their input through.
void recompute_groups(std::span<Block> blocks, std::size_t size, RecomputeOptions options) {
  for (std::size_t first = 0; first < blocks.size(); first += size) {
    const std::span<Block> group = blocks.subspan(first, std::min(size, blocks.size() - first));
    std::vector<BlockFunction> functions;
    for (Block& block : group) {
      functions.push_back(std::exchange(block.run, [](const at::Tensor& x) { return x; }));
    }
    options.blocks = static_cast<std::int64_t>(group.size());
    group.front().run = recompute_in_backward(
        [functions](const at::Tensor& input) {
          at::Tensor x = input;
          for (const BlockFunction& function : functions) x = function(x);
          return x;
        },
        options);
  }
}

/// Blocks keep only their input for backward and run again when backward comes to them; in groups
/// of `every` blocks, or in groups of groups (nested), which run once more. Of L blocks that save A
/// bytes each with an input of I that saves (L - 1) (A - I) - I; in groups of n blocks L/n inputs
/// and n A stay. Random state and autocast are restored; the second run stops at the last tensor
/// that is needed. Listed after it, activation_offload moves the kept inputs; listed before it, it
/// would keep what is to be dropped.
class ActivationCheckpointing final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override {
    recipe.restores_random_state = recipe.model.dropout > 0.0;
  }
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t every_ = 1;
  std::int64_t nested_ = 0;
  bool reentrant_ = false;
};

void ActivationCheckpointing::fields(Fields& f) {
  f.integer({"every", "blocks that are checkpointed as one"}, every_, {1, 1024});
  f.integer({"nested", "blocks of an outer checkpoint around the inner ones; 0: none"}, nested_,
            {0, 1024});
  f.boolean({"reentrant", "as an autograd function that runs a backward of its own"}, reentrant_);
}

void ActivationCheckpointing::wrap_model(Step& step, const Recipe& recipe) const {
  const RecomputeOptions options{.device = recipe.device,
                                 .reentrant = reentrant_,
                                 .random_state = recipe.restores_random_state,
                                 .count = &step.evidence.recomputed_blocks};
  recompute_groups(step.model.blocks(), static_cast<std::size_t>(every_), options);
  if (nested_ > 0) {
    recompute_groups(step.model.blocks(), static_cast<std::size_t>(nested_), options);
  }
}

std::string ActivationCheckpointing::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.recomputed_blocks > 0) return {};
  return "no block ran again; list activation_checkpointing before activation_offload";
}

}  // namespace

extern constinit const TechniqueEntry kActivationCheckpointing{
    .name = "activation_checkpointing",
    .summary = "blocks keep only their input and run again in backward",
    .saves = "all saved tensors of a block but its input, for every block but one",
    .costs =
        "one more forward of the blocks but for their last product: 2/9 of the step's FLOPs, and "
        "attention",
    .source = "Chen et al. 2016, arXiv:1604.06174; torch.utils.checkpoint",
    .make = &make_technique<ActivationCheckpointing>,
    .fit_cost = {.recompute = 1},
};

}  // namespace headroom
