// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <utility>

namespace headroom {

at::Tensor Model::loss(const Batch& batch) {
  at::Tensor scores = logits(batch);  // (B, C) or (B, T, C)
  if (scores.element_size() < 4) scores = scores.to(at::kFloat);
  return at::cross_entropy_loss(scores.flatten(0, -2), targets(batch).flatten());
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.tensor.numel();
  return count;
}

void Model::add_block(const std::string& prefix, std::vector<ParallelLinear> parallel_layers,
                      BlockFunction run) {
  Block block{
      .run = std::move(run), .parameters = {}, .parallel_layers = std::move(parallel_layers)};
  for (const Parameter& parameter : parameters_) {
    if (parameter.name.starts_with(prefix)) block.parameters.push_back(parameter.tensor);
  }
  blocks_.push_back(std::move(block));
}

at::Tensor Model::run_blocks(at::Tensor x) {
  x = products_->enter_blocks(x);
  for (const Block& block : blocks_) x = block.run(x);
  return products_->leave_blocks(x);
}

}  // namespace headroom
