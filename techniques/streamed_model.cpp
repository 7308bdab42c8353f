// SPDX-License-Identifier: Apache-2.0
#include "techniques/streamed_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "src/core/error.h"
#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"
#include "src/memory/position.h"

namespace headroom {

void StreamedModel::take_over(Step& step, const Recipe& recipe,
                              const StreamedUnit::Dtypes& dtypes) {
  // By hand, as nobody else is to make one.
  const std::shared_ptr<StreamedModel> model(new StreamedModel(step, recipe, dtypes));
  model->wrap_verbs();
}

StreamedModel::StreamedModel(Step& step, const Recipe& recipe, const StreamedUnit::Dtypes& dtypes)
    : step_(step),
      recipe_(recipe),
      weights_(step, recipe.device, dtypes),
      send_stream_(recipe.device),
      fetch_stream_(recipe.device) {
  if (step.draw_parameters) {
    step.draw_parameters(
        [this](std::size_t index, const at::Tensor& values) { weights_.receive(index, values); });
    // The largest parameter's memory, as a table of tokens', would hold buffers of other sizes.
    give_back_unused(recipe.device);
  }
  step.trained = weights_.trained();
}

void StreamedModel::wrap_verbs() {
  const auto self = shared_from_this();
  weights_.arrived = [this](const auto& parameters) { return update(parameters); };
  step_.model.run() = [self](const Batch& batch, Output output) {
    if (!at::GradMode::is_enabled()) return self->evaluate(batch, output);
    const at::Tensor x = self->slice(self->between_, self->next_in_head_);
    self->input_of_head_ = x.detach().set_requires_grad(true);
    return self->step_.model.finish(self->input_of_head_, batch, output);
  };
  step_.begin_batch = [self](const Batch& batch) { self->begin_batch(batch); };
  step_.backward = [self, inner = std::move(step_.backward)](const at::Tensor& loss) {
    inner(loss);
    const at::Tensor input = std::exchange(self->input_of_head_, at::Tensor());
    self->keep_between(self->next_in_head_++, input.grad());
  };
  step_.parameter_ready = [](std::size_t) {};  // more micro-batches may follow
  step_.collect_gradients = [self] { self->finish_batch(); };
  if (updates_on_arrival()) {
    step_.update = [] {};
  } else {
    step_.publish_weights = [self] { self->weights_.publish(); };
  }
  step_.own_weights = [self] {
    std::vector<WeightPart> weights;
    const std::vector<at::Tensor> trained = self->weights_.trained();
    for (std::size_t i = 0; i < trained.size(); ++i) {
      weights.push_back({self->step_.model.parameters()[i].name,
                         TensorPart::whole(trained[i].sizes()), trained[i].detach()});
    }
    return weights;
  };
  step_.with_weights = [self](const std::function<void()>& call) {
    self->weights_.with_weights(call);
  };
}

/// The norm of all gradients, and whether one of them overflowed, are known only behind the last.
bool StreamedModel::updates_on_arrival() const {
  return recipe_.train.max_gradient_norm == 0.0 && recipe_.autocast != at::kHalf;
}

bool StreamedModel::update(const std::vector<std::size_t>& parameters) {
  for (const std::size_t index : parameters) step_.gradient_ready(index);
  if (!updates_on_arrival()) return false;
  step_.optimizer->update(parameters);
  for (const std::size_t index : parameters) {
    at::Tensor(step_.trained[index]).mutable_grad().reset();
  }
  return true;
}

void StreamedModel::begin_batch(const Batch& batch) {
  const PhaseScope phase(Phase::forward);
  const at::NoGradGuard no_grad;
  if (updates_on_arrival()) step_.optimizer->begin_step();
  next_in_head_ = 0;
  micro_batches_.clear();
  random_states_.clear();
  for (std::int64_t start = 0; start < batch.size(); start += recipe_.micro_batch_size()) {
    const std::int64_t count = std::min(recipe_.micro_batch_size(), batch.size() - start);
    micro_batches_.push_back({start, count});
  }
  const at::Tensor& mask = batch.attention_mask;
  weights_.fetch_ends();
  batch_ = {.inputs = batch.inputs,
            .attention_mask = mask.defined() ? mask.to(recipe_.device) : mask,
            .labels = {}};
  weights_.open_ends();
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    note_random_state();
    keep_between(i, embed(i));
  }
  inputs_.resize(step_.model.blocks().size());
  weights_.forward([this](std::size_t block) { run_forward(block); });
}

at::Tensor StreamedModel::slice(const at::Tensor& batch, std::size_t micro_batch) const {
  const MicroBatch& part = micro_batches_[micro_batch];
  return batch.defined() ? batch.narrow(0, part.start, part.count) : batch;
}

at::Tensor StreamedModel::embed(std::size_t micro_batch) {
  const Batch on_host{.inputs = weights_.fetch_rows(slice(batch_.inputs, micro_batch)),
                      .attention_mask = slice(batch_.attention_mask, micro_batch),
                      .labels = {}};
  const Batch batch = on_host.to(recipe_.device);
  step_.ledger.tag(batch.inputs, Category::batch);
  const AutocastScope autocast(recipe_.autocast_state());
  return step_.model.embed(batch).x;
}

at::Tensor StreamedModel::run_block(std::size_t block, std::size_t micro_batch,
                                    const at::Tensor& x) {
  step_.model.enter({{}, slice(batch_.attention_mask, micro_batch), {}});
  const AutocastScope autocast(recipe_.autocast_state());
  return step_.model.blocks()[block].run(x);
}

void StreamedModel::keep_between(std::size_t micro_batch, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  if (!between_.defined()) {
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes[0] = batch_.inputs.size(0);
    between_ = at::empty(sizes, x.options());
    step_.ledger.tag(between_, Category::activations);
  }
  const at::Tensor place = slice(between_, micro_batch);
  if (!place.sizes().equals(x.sizes()) || place.scalar_type() != x.scalar_type()) {
    throw Unsupported("layer_streaming needs blocks that all hand on one shape in one dtype");
  }
  place.copy_(x);
}

void StreamedModel::run_forward(std::size_t block) {
  at::Tensor& inputs = inputs_[block];
  if (!inputs.defined() || !inputs.sizes().equals(between_.sizes())) {
    inputs = host_buffer_like(between_);
  }
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    send_input(block, i);
    note_random_state();
    const at::Tensor output = run_block(block, i, slice(between_, i));
    send_stream_.join();
    keep_between(i, output);
  }
}

void StreamedModel::send_input(std::size_t block, std::size_t micro_batch) {
  send_stream_.follow_current();
  const SideStream::Scope scope(send_stream_);
  const at::Tensor on_host = slice(inputs_[block], micro_batch);
  on_host.copy_(slice(between_, micro_batch), /*non_blocking=*/true);
  step_.evidence.offloaded_bytes += static_cast<std::int64_t>(on_host.nbytes());
}

void StreamedModel::fetch_input(std::size_t block, std::size_t micro_batch) {
  const at::NoGradGuard no_grad;
  if (fetched_.empty()) {
    for (int i = 0; i < 2; ++i) {
      fetched_.push_back(at::empty_like(slice(between_, 0)));
      step_.ledger.tag(fetched_.back(), Category::activations);
    }
  }
  fetch_stream_.follow_current();  // which is done with the micro-batch before the last one
  const SideStream::Scope scope(fetch_stream_);
  const at::Tensor on_host = slice(inputs_[block], micro_batch);
  fetched_[micro_batch % 2].narrow(0, 0, on_host.size(0)).copy_(on_host, /*non_blocking=*/true);
  step_.evidence.fetched_bytes += static_cast<std::int64_t>(on_host.nbytes());
}

void StreamedModel::run_backward(std::size_t block) {
  const std::size_t count = micro_batches_.size();
  fetch_input(block, 0);
  for (std::size_t i = 0; i < count; ++i) {
    fetch_stream_.join();
    if (i + 1 < count) fetch_input(block, i + 1);
    const at::Tensor x =
        fetched_[i % 2].narrow(0, 0, micro_batches_[i].count).detach().set_requires_grad(true);
    const auto random = same_random_state((block + 1) * count + i);
    const at::Tensor y = run_block(block, i, x);
    ++step_.evidence.recomputed_blocks;
    torch::autograd::backward({y}, {slice(between_, i)});
    keep_between(i, x.grad());
  }
}

void StreamedModel::finish_batch() {
  const PhaseScope phase(Phase::backward);
  weights_.backward([this](std::size_t block) { run_backward(block); });
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    const auto random = same_random_state(i);
    const at::Tensor x = embed(i);
    step_.evidence.fetched_bytes += static_cast<std::int64_t>(slice(batch_.inputs, i).nbytes());
    if (!x.requires_grad()) continue;
    weights_.open_rows();
    torch::autograd::backward({x}, {slice(between_, i)});
    weights_.send_rows();
  }
  weights_.close_ends();
  between_.reset();
}

at::Tensor StreamedModel::evaluate(const Batch& batch, Output output) {
  weights_.fetch_ends();
  Batch read = batch;
  read.inputs = weights_.fetch_rows(batch.inputs).to(recipe_.device);
  step_.model.enter(read);
  at::Tensor x = step_.model.embed(read).x;
  weights_.forward([&](std::size_t block) { x = step_.model.blocks()[block].run(x); });
  return step_.model.finish(std::move(x), batch, output);
}

void StreamedModel::note_random_state() {
  if (recipe_.model.dropout > 0.0) random_states_.push_back(get_random_state(recipe_.device));
}

std::optional<RandomStateScope> StreamedModel::same_random_state(std::size_t place) const {
  if (random_states_.empty()) return std::nullopt;
  return std::optional<RandomStateScope>(std::in_place, recipe_.device, random_states_[place]);
}

}  // namespace headroom
