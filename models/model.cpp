// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <unordered_map>
#include <utility>

#include "models/attention.h"

namespace headroom {

Batch Batch::slice(std::int64_t start, std::int64_t count) const {
  const auto part = [&](const at::Tensor& t) {
    return t.defined() ? t.narrow(0, start, count) : t;
  };
  return {part(inputs), part(attention_mask), part(labels)};
}

Batch Batch::to(at::Device device) const {
  // From page-locked memory the copy is asynchronous; from pageable memory `non_blocking` is void.
  const auto move = [&](const at::Tensor& t) {
    return t.defined() ? t.to(device, t.scalar_type(), /*non_blocking=*/true) : t;
  };
  return {move(inputs), move(attention_mask), move(labels)};
}

namespace {

at::Tensor cross_entropy(at::Tensor logits, const at::Tensor& targets,
                         at::Reduction::Reduction how) {
  if (logits.element_size() < 4) logits = logits.to(at::kFloat);
  return at::cross_entropy_loss(logits.flatten(0, -2), targets.flatten(), /*weight=*/{}, how);
}

}  // namespace

at::Tensor mean_cross_entropy(at::Tensor logits, const at::Tensor& targets) {
  return cross_entropy(std::move(logits), targets, at::Reduction::Mean);
}

at::Tensor sum_of_cross_entropy(at::Tensor logits, const at::Tensor& targets) {
  return cross_entropy(std::move(logits), targets, at::Reduction::Sum);
}

at::Tensor Model::finish(at::Tensor x, const Batch& batch, Output output) {
  return output == Output::loss ? loss_of_(std::move(x), batch) : head(std::move(x));
}

void Model::enter(const Batch& batch) { mask_ = key_mask(batch.attention_mask); }

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.tensor.numel();
  return count;
}

std::vector<std::vector<std::size_t>> Model::parameters_by_block() const {
  std::unordered_map<const void*, std::size_t> reader;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (const at::Tensor& parameter : blocks_[i].parameters) {
      const auto [entry, is_first] = reader.try_emplace(parameter.unsafeGetTensorImpl(), i);
      if (!is_first) entry->second = blocks_.size();  // two blocks read it
    }
  }
  std::vector<std::vector<std::size_t>> indices(blocks_.size() + 1);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto found = reader.find(parameters_[i].tensor.unsafeGetTensorImpl());
    indices[found == reader.end() ? blocks_.size() : found->second].push_back(i);
  }
  return indices;
}

void Model::add_block(const std::string& prefix, std::vector<ParallelLinear> parallel_layers,
                      BlockFunction run) {
  Block block{.run = std::move(run),
              .parameters = {},
              .parallel_layers = std::move(parallel_layers),
              .prefix = prefix};
  for (const Parameter& parameter : parameters_) {
    if (parameter.name.starts_with(prefix)) block.parameters.push_back(parameter.tensor);
  }
  blocks_.push_back(std::move(block));
}

void Model::extend(std::vector<Parameter> parameters) {
  for (Parameter& parameter : parameters) {
    for (Block& block : blocks_) {
      if (parameter.name.starts_with(block.prefix)) block.parameters.push_back(parameter.tensor);
    }
    parameters_.push_back(std::move(parameter));
  }
}

at::Tensor Model::run_blocks(at::Tensor x) {
  x = products_->enter_blocks(x);
  for (const Block& block : blocks_) x = block.run(x);
  return products_->leave_blocks(x);
}

}  // namespace headroom
