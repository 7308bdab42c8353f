// SPDX-License-Identifier: Apache-2.0
#include "src/worker/trainer.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "src/memory/device_memory.h"
#include "src/memory/position.h"
#include "src/optimizers/clip.h"
#include "src/worker/plan_clock.h"

namespace headroom {
namespace {

std::vector<at::Tensor> tensors_of(const Model& model) {
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : model.parameters()) tensors.push_back(parameter.tensor);
  return tensors;
}

std::vector<at::Tensor> trained_of(const Model& model) {
  std::vector<at::Tensor> trained = tensors_of(model);
  std::erase_if(trained, [](const at::Tensor& tensor) { return !tensor.requires_grad(); });
  return trained;
}

/// For each of the model's parameters, how many before it are trained.
std::vector<std::size_t> places_among_trained(const Model& model) {
  std::vector<std::size_t> places;
  std::size_t trained = 0;
  for (const Parameter& parameter : model.parameters()) {
    places.push_back(trained);
    if (parameter.tensor.requires_grad()) ++trained;
  }
  return places;
}

std::int64_t total_bytes(const std::vector<at::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

/// Whether the last step's gradients live until this step's backward.
bool zeroes_first(const TrainOptions& train) {
  return train.zero_grad_when == ZeroGradWhen::before_backward;
}

/// Autograd's word that a parameter's gradient has arrived.
class GradientArrived final : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit GradientArrived(std::function<void(const at::Tensor&)> call) : call_(std::move(call)) {}
  void operator()(const at::Tensor& parameter) override { call_(parameter); }

 private:
  std::function<void(const at::Tensor&)> call_;
};

}  // namespace

Trainer::Trainer(const Recipe& recipe, const Techniques& techniques, Ledger& ledger)
    : recipe_(recipe), techniques_(techniques), ledger_(ledger) {
  const PhaseScope phase(Phase::build);
  at::manual_seed(static_cast<std::uint64_t>(recipe.train.seed));
  if (recipe.joins_ranks) {
    group_ = std::make_unique<ProcessGroup>(recipe.membership, recipe.device, recipe.train.backend);
  }
  build_model();
  follow_blocks();
  make_step();
  for (const auto& technique : techniques) technique->split_parameters(*step_, recipe);
  make_optimizer();
  gradient_norms_.emplace(step_->trained.size());
  if (recipe.batch_share().ranks > 1) give_each_rank_its_own_dropout();
  for (const auto& technique : techniques) technique->wrap_model(*step_, recipe);
  for (const auto& technique : techniques) technique->wrap_step(*step_, recipe);
  follow_gradients();
}

void Trainer::build_model() {
  if (!recipe_.build_on_device) {
    build_model_on_host();
  } else if (recipe_.splits_parameters()) {
    // No rank ever holds the whole model: its parameters have no memory until their units have.
    make_model(recipe_.device, recipe_.dtype, Start::zeros,
               [](std::size_t, const at::Tensor& parameter) { release_storage(parameter); });
  } else {
    make_model(recipe_.device, recipe_.dtype, start());
  }
  place_buffers();
  count_parameters();
}

void Trainer::count_parameters() {
  for (const Parameter& parameter : model_->parameters()) {
    const bool is_trained = parameter.tensor.requires_grad();
    (is_trained ? evidence_.parameter_count : evidence_.frozen_count) += parameter.tensor.numel();
    evidence_.parameter_tensors += is_trained ? 1 : 0;
  }
  evidence_.parameter_bytes =
      evidence_.parameter_count * static_cast<std::int64_t>(c10::elementSize(recipe_.dtype));
}

/// As most training scripts do: all of it in full precision on the host, then all of it to the
/// device, then the cast.
void Trainer::build_model_on_host() {
  const at::ScalarType full =
      recipe_.train.precision == Precision::float64 ? at::kDouble : at::kFloat;
  make_model(at::kCPU, full, start());
  if (!recipe_.device.is_cpu() || recipe_.dtype != full || recipe_.splits_parameters()) {
    evidence_.staged_parameter_bytes = total_bytes(tensors_of(*model_));
  }
  if (recipe_.splits_parameters()) return;
  const auto move = [&](auto&& moved) {
    for (const Parameter& parameter : model_->parameters()) {
      parameter.tensor.set_data(moved(parameter.tensor.detach()));
      ledger_.tag(parameter.tensor, Category::weights);
    }
  };
  move([&](const at::Tensor& tensor) { return tensor.to(recipe_.device); });
  move([&](const at::Tensor& tensor) { return tensor.to(recipe_.dtype); });
}

/// Buffers stay with every rank, in the dtype of the weights that forward reads; integers as such.
void Trainer::place_buffers() {
  for (const Buffer& buffer : model_->buffers()) {
    at::Tensor placed = buffer.tensor.to(recipe_.device);
    if (placed.is_floating_point()) placed = placed.to(recipe_.dtype_at_work());
    buffer.tensor.set_data(placed);
    ledger_.tag(buffer.tensor, Category::weights);
  }
}

/// Makes the model with its parameters where and as they are to be, and fills them from saved
/// weights. With `made` they have no memory yet.
void Trainer::make_model(at::Device device, at::ScalarType dtype, Start how,
                         const MadeParameter& made) {
  model_ = new_model(device, dtype, how, made);
  for (const Parameter& p : model_->parameters()) ledger_.tag(p.tensor, Category::weights);
  for (const Buffer& b : model_->buffers()) ledger_.tag(b.tensor, Category::weights);
  open_saved_weights();
  for (const Buffer& buffer : model_->buffers()) read_saved(buffer.name, buffer.tensor);
  if (made) return;
  for (const Parameter& p : model_->parameters()) read_saved(p.name, p.tensor);
}

/// The model, and behind its own parameters those of techniques.
std::unique_ptr<Model> Trainer::new_model(at::Device device, at::ScalarType dtype, Start how,
                                          const MadeParameter& made) {
  std::unique_ptr<Model> model =
      find_model(recipe_.model.name)
          .make(recipe_.model, recipe_.data.shape(), ParameterFactory(device, dtype, how, made));
  own_parameters_ = model->parameters().size();
  MadeParameter made_behind;
  if (made) {
    made_behind = [this, &made](std::size_t index, const at::Tensor& parameter) {
      made(own_parameters_ + index, parameter);
    };
  }
  ParameterFactory more(device, dtype, how, made_behind);
  for (const auto& technique : techniques_) technique->extend_model(*model, more);
  model->extend(more.take());
  return model;
}

void Trainer::open_saved_weights() {
  if (recipe_.model.weights.empty() || !recipe_.computes) return;
  saved_.emplace(recipe_.model.weights);
  saved_->match(model_->parameters().first(own_parameters_), model_->buffers(),
                recipe_.model.has_new_head() ? Head::drawn : Head::saved);
}

/// A head that is new, and what a technique added, begin as they were drawn.
void Trainer::read_saved(const std::string& name, const at::Tensor& into) {
  if (!saved_ || !saved_->has(name)) return;
  const at::NoGradGuard no_grad;
  into.copy_(saved_->read(name));
}

/// Lets each block say when it runs, forward and backward: innermost, so that a second run counts.
void Trainer::follow_blocks() {
  std::int64_t index = 0;
  for (Block& block : model_->blocks()) {
    block.run = [index, inner = std::move(block.run)](const at::Tensor& x) {
      enter_block(index);
      // Backward runs the other way: it enters a block at its output and leaves it at its input.
      if (x.requires_grad()) {
        x.register_hook(
            [index](const at::Tensor&) { enter_block(index == 0 ? kNoBlock : index - 1); });
      }
      at::Tensor y = inner(x);
      if (y.requires_grad()) y.register_hook([index](const at::Tensor&) { enter_block(index); });
      enter_block(kNoBlock);
      return y;
    };
    ++index;
  }
}

void Trainer::follow_gradients() {
  for (std::size_t index = 0; index < model_->parameters().size(); ++index) {
    const Parameter& parameter = model_->parameters()[index];
    if (!parameter.tensor.requires_grad()) continue;
    const auto arrived = [this, index](const at::Tensor& owner) {
      ledger_.tag(owner.grad(), Category::gradients);
      step_->parameter_ready(index);
    };
    torch::autograd::impl::set_post_acc_grad_hooks(parameter.tensor,
                                                   std::make_unique<GradientArrived>(arrived));
  }
}

/// The parameters that a model without memory would have begun with.
void Trainer::draw_parameters(const MadeParameter& made) {
  const auto hand_on = [&](std::size_t index, const at::Tensor& parameter) {
    ledger_.tag(parameter, Category::weights);
    read_saved(model_->parameters()[index].name, parameter);
    made(index, parameter);
    release_storage(parameter);
  };
  new_model(recipe_.device, recipe_.dtype, start(), hand_on);
}

void Trainer::make_optimizer() {
  PlannedUpdate planned;
  if (!recipe_.computes) {
    planned = [ranks = recipe_.membership.ranks](std::int64_t bytes) {
      move_host_bytes_of_plan(bytes, ranks);
    };
  }
  if (recipe_.weights_on == WeightsOn::host) {
    optimizer_ = make_optimizer_of_host_parameters(recipe_.optimizer, step_->trained, planned);
  } else if (recipe_.optimizer_on_host) {
    optimizer_ = make_host_optimizer(recipe_.optimizer, step_->trained, planned);
  } else {
    optimizer_ = make_device_optimizer(recipe_.optimizer, step_->trained);
  }
  step_->optimizer = optimizer_.get();
  evidence_.trained_bytes = total_bytes(step_->trained);
}

/// All ranks draw the same weights; from here on each draws for itself.
void Trainer::give_each_rank_its_own_dropout() const {
  at::manual_seed(static_cast<std::uint64_t>(recipe_.train.seed + recipe_.membership.rank + 1));
}

void Trainer::make_step() {
  step_ = std::make_unique<Step>(Step{.model = *model_,
                                      .ledger = ledger_,
                                      .evidence = evidence_,
                                      .group = group_.get(),
                                      .trained = trained_of(*model_)});
  if (recipe_.build_on_device && recipe_.splits_parameters()) {
    step_->draw_parameters = [this](const MadeParameter& made) { draw_parameters(made); };
  }
  step_->own_weights = [this] {
    std::vector<WeightPart> weights;
    if (recipe_.membership.rank > 0) return weights;  // all ranks have the same
    for (const Parameter& p : model_->parameters()) {
      weights.push_back({p.name, TensorPart::whole(p.tensor.sizes()), p.tensor});
    }
    return weights;
  };
  step_->forward = [this](const Batch& batch) { return model_->loss(batch); };
  step_->backward = [](const at::Tensor& loss) { torch::autograd::backward({loss}, {}); };
  step_->run_micro_batch = [this](const Batch& batch) { return run_micro_batch(batch); };
  step_->parameter_ready = [this, places = places_among_trained(*model_)](std::size_t index) {
    step_->gradient_ready(places[index]);
  };
  step_->gradient_ready = [this](std::size_t index) { note_gradient_norm(index); };
  step_->finish_gradients = [this] {
    for (std::size_t i = 0; i < step_->trained.size(); ++i) note_gradient_norm(i);
    if (recipe_.train.max_gradient_norm > 0.0) {
      clip_gradients(step_->trained, recipe_.train.max_gradient_norm, step_->share);
    }
  };
  step_->update = [this] {
    optimizer_->begin_step();
    optimizer_->update_all();
  };
}

void Trainer::zero_gradients() {
  for (const at::Tensor& trained : step_->trained) {
    at::Tensor& gradient = at::Tensor(trained).mutable_grad();
    if (!gradient.defined()) continue;
    if (recipe_.train.zero_grad == ZeroGrad::to_none) {
      gradient.reset();
    } else {
      gradient.zero_();
    }
  }
}

void Trainer::note_gradient_norm(std::size_t index) {
  if (evidence_.steps == 0) gradient_norms_->note(index, step_->trained[index].grad());
}

std::optional<double> Trainer::first_gradient_norm() const {
  const std::optional<double> norm = gradient_norms_->total(step_->share, recipe_.device);
  return evidence_.steps > 0 ? norm : std::nullopt;
}

Batch Trainer::to_device(const Batch& micro_batch) const {
  Batch batch = micro_batch.to(recipe_.device);
  for (const at::Tensor* tensor : {&batch.inputs, &batch.attention_mask, &batch.labels}) {
    ledger_.tag(*tensor, Category::batch);
  }
  return batch;
}

at::Tensor Trainer::run_micro_batch(const Batch& micro_batch) {
  at::Tensor loss;
  {
    const PhaseScope phase(Phase::forward);
    loss = step_->forward(micro_batch);
  }
  const PhaseScope phase(Phase::backward);
  if (step_->first_micro_batch && zeroes_first(recipe_.train)) zero_gradients();
  if (step_->share_of_batch != 1.0) loss = loss.mul(step_->share_of_batch);
  step_->backward(loss);
  return loss.detach();
}

double Trainer::counted_step(const Batch& batch) {
  step_->is_counted = true;
  const double loss = step(batch);
  step_->is_counted = false;
  return loss;
}

double Trainer::step(const Batch& batch) {
  at::Tensor total;
  step_->begin_batch(batch);
  for (std::int64_t start = 0; start < batch.size(); start += recipe_.micro_batch_size()) {
    const std::int64_t count = std::min(recipe_.micro_batch_size(), batch.size() - start);
    step_->first_micro_batch = start == 0;
    step_->last_micro_batch = start + count == batch.size();
    step_->share_of_batch = static_cast<double>(count) / static_cast<double>(batch.size());
    const at::Tensor loss = step_->run_micro_batch(to_device(batch.slice(start, count)));
    total = total.defined() ? total.add(loss) : loss;
    ++evidence_.backward_passes;
  }
  model_states_bytes_ = ledger_.current_bytes(Category::weights) +
                        ledger_.current_bytes(Category::gradients) +
                        ledger_.current_bytes(Category::optimizer_state);
  const PhaseScope phase(Phase::update);
  step_->collect_gradients();
  step_->finish_gradients();
  step_->update();
  step_->publish_weights();
  if (!zeroes_first(recipe_.train)) zero_gradients();
  for (const at::Tensor& state : optimizer_->device_state()) {
    ledger_.tag(state, Category::optimizer_state);
  }
  ++evidence_.steps;
  return mean_over_ranks(total).item<double>();
}

at::Tensor Trainer::mean_over_ranks(const at::Tensor& loss) const {
  if (step_->group == nullptr) return loss;
  at::Tensor mean = loss.div(static_cast<double>(step_->group->ranks()));
  step_->group->sum(mean);
  return mean;
}

std::vector<WeightPart> Trainer::own_weights() const {
  std::vector<WeightPart> weights = step_->own_weights();
  if (recipe_.membership.rank > 0) return weights;
  for (const Buffer& b : model_->buffers()) {
    weights.push_back({b.name, TensorPart::whole(b.tensor.sizes()), b.tensor});
  }
  return weights;
}

Evidence Trainer::final_evidence() const {
  Evidence evidence = evidence_;
  evidence.device_state_bytes = total_bytes(optimizer_->device_state());
  evidence.host_state_bytes = total_bytes(optimizer_->host_state());
  // What got no gradient is not updated, and no technique can be expected to.
  for (std::size_t i = 0; i < step_->trained.size(); ++i) {
    if (gradient_norms_->has(i)) continue;
    evidence.trained_bytes -= static_cast<std::int64_t>(step_->trained[i].nbytes());
    --evidence.parameter_tensors;
  }
  return evidence;
}

std::int64_t Trainer::copied_bytes() const {
  return optimizer_->copied_bytes() + evidence_.offloaded_bytes + evidence_.fetched_bytes;
}

}  // namespace headroom
