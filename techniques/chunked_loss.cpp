// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/chunk.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/error.h"
#include "techniques/recompute.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// The logits of a language model, (B, T, V), and their loss are computed for a part of the tokens
/// at a time, and again in backward. Of V classes, and T tokens in k parts, T/k V logits are there,
/// with what softmax and its gradient take beside them.
class ChunkedLoss final : public Technique {
 public:
  void fields(Fields& f) override {
    f.integer({"chunks", "parts of the tokens of a sample"}, chunks_, {2, 65536});
  }
  void check_recipe(const Recipe& recipe) const override;
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t chunks_ = 8;
};

void ChunkedLoss::check_recipe(const Recipe& recipe) const {
  if (!find_model(recipe.model.name).tells_tokens) {
    throw Unsupported("chunked_loss cuts the logits of a model that tells each token's class; " +
                      recipe.model.name + " has one row of logits a sample");
  }
  if (recipe.data.sequence_length < chunks_) {
    throw Unsupported(std::to_string(recipe.data.sequence_length) + " tokens are not enough for " +
                      std::to_string(chunks_) + " chunks of the loss");
  }
}

void ChunkedLoss::wrap_model(Step& step, const Recipe& recipe) const {
  const RecomputeOptions options{.device = recipe.device, .count = &step.evidence.loss_chunks};
  step.model.loss_of() = [&model = step.model, chunks = chunks_, options](const at::Tensor& x,
                                                                          const Batch& batch) {
    const at::Tensor targets = model.targets(batch);  // (B, T)
    const std::vector<at::Tensor> parts_of_x = x.chunk(chunks, 1);
    const std::vector<at::Tensor> parts_of_targets = targets.chunk(chunks, 1);
    at::Tensor sum;
    for (std::size_t i = 0; i < parts_of_x.size(); ++i) {
      const auto loss = recompute_in_backward(
          [&model, part = parts_of_targets[i]](const at::Tensor& part_of_x) {
            return sum_of_cross_entropy(model.head(part_of_x), part);
          },
          options);
      const at::Tensor of_part = loss(parts_of_x[i]);
      sum = sum.defined() ? sum + of_part : of_part;
    }
    return sum / targets.ne(kNoTarget).sum();
  };
}

std::string ChunkedLoss::why_inactive(const Evidence& evidence, const Recipe&) const {
  return evidence.loss_chunks > 0 ? "" : "no chunk of the loss ran again";
}

}  // namespace

extern constinit const TechniqueEntry kChunkedLoss{
    .name = "chunked_loss",
    .summary = "logits of a language model and their loss for a part of the tokens at a time",
    .saves = "of logits, their log-softmax and its gradient, 4 B T V each, all but a chunk's",
    .costs = "the head's product once more",
    .source = "torchtune's chunked cross entropy; Liger Kernel, arXiv:2410.10989",
    .make = &make_technique<ChunkedLoss>,
    .loss_tolerance = 1e-5,
    .fit_cost = {.recompute = 1},
};

}  // namespace headroom
