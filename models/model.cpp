// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <utility>

namespace headroom {

at::Tensor Model::loss(const Batch& batch) {
  at::Tensor scores = logits(batch);  // (B, C)
  if (scores.element_size() < 4) scores = scores.to(at::kFloat);
  return at::cross_entropy_loss(scores, batch.labels);
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.tensor.numel();
  return count;
}

void Model::add_block(const std::string& prefix, BlockFunction run) {
  Block block{.run = std::move(run), .parameters = {}};
  for (const Parameter& parameter : parameters_) {
    if (parameter.name.starts_with(prefix)) block.parameters.push_back(parameter.tensor);
  }
  blocks_.push_back(std::move(block));
}

at::Tensor Model::run_blocks(at::Tensor x) {
  for (const Block& block : blocks_) x = block.run(x);
  return x;
}

}  // namespace headroom
