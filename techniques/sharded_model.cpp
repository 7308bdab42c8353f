// SPDX-License-Identifier: Apache-2.0
#include "techniques/sharded_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/memory/host_memory.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxReleases = 2;  // as FullyShardedDataParallel has it

/// Whether autograd runs on this thread: a block that runs then runs again, for its gradients.
bool in_backward() { return torch::autograd::get_current_graph_task_id() != -1; }

}  // namespace

void ShardedModel::edit_recipe(Recipe& recipe, Sharding sharding) {
  recipe.joins_ranks = true;
  recipe.sharding = std::max(recipe.sharding, sharding);
  recipe.cuts_parameters = true;
}

std::string ShardedModel::why_inactive(const Evidence& evidence, WeightDtype parameter_dtype) {
  if (evidence.reductions == 0) return "no gradient was reduced";
  if (evidence.gathers == 0) return "no weight was gathered";
  const bool ran = !is_narrow(parameter_dtype) || evidence.low_precision_flops > 0;
  return ran ? "" : "no product ran in 16 bits";
}

void ShardedModel::take_over(Step& step, const Recipe& recipe, const ShardingOptions& options) {
  // By hand, as nobody else is to make one.
  const std::shared_ptr<ShardedModel> model(new ShardedModel(step, recipe, options));
  if (options.sharding == Sharding::weights) {
    if (!options.one_unit) model->wrap_blocks();
    model->wrap_run();
  }
  model->wrap_verbs();
}

ShardedModel::ShardedModel(Step& step, const Recipe& recipe, const ShardingOptions& options)
    : step_(step),
      recipe_(recipe),
      options_(options),
      group_(*step.group),
      on_host_(recipe.weights_on == WeightsOn::host),
      fetch_stream_(recipe.device),
      gather_stream_(recipe.device),
      reduce_stream_(recipe.device) {
  make_units();
  if (step.draw_parameters) draw_parameters();
  step.trained.clear();
  for (const Unit& unit : units_) {
    if (unit.trained) step.trained.push_back(unit.trained->part());
  }
}

void ShardedModel::make_units() {
  const std::size_t blocks = step_.model.blocks().size();
  std::vector<at::Tensor> gathered;
  std::int64_t elements = 0;
  unit_of_parameter_.resize(step_.model.parameters().size());
  for (const std::vector<std::size_t>& indices : step_.model.parameters_by_block()) {
    for (const std::size_t index : indices) {
      unit_of_parameter_[index] = units_.size();
      gathered.push_back(step_.model.parameters()[index].tensor);
      elements += gathered.back().numel();
    }
    const bool is_block = unit_of_block_.size() < blocks;
    if (is_block) unit_of_block_.push_back(units_.size());
    const bool has_more_blocks = unit_of_block_.size() < blocks;
    if (is_block && options_.one_unit) continue;
    if (elements < options_.min_parameters && has_more_blocks) continue;
    add_unit(std::exchange(gathered, {}));
    elements = 0;
  }
}

void ShardedModel::add_unit(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> trained;
  std::vector<at::Tensor> frozen;
  for (const at::Tensor& parameter : parameters) {
    (parameter.requires_grad() ? trained : frozen).push_back(parameter);
  }
  units_.push_back(
      {.trained = make_flat(std::move(trained)), .frozen = make_flat(std::move(frozen))});
}

std::unique_ptr<FlatUnit> ShardedModel::make_flat(std::vector<at::Tensor> parameters) {
  if (parameters.empty()) return nullptr;
  const at::ScalarType gather_dtype = recipe_.dtype_at_work();
  const bool has_part = shards(Sharding::weights) || parameters.front().requires_grad();
  const FlatUnitOptions options{.gathered = shards(Sharding::weights),
                                .part_on_host = on_host_,
                                .dtype = has_part ? recipe_.dtype : gather_dtype,
                                .gather_dtype = gather_dtype};
  auto flat = std::make_unique<FlatUnit>(std::move(parameters), group_, options);
  step_.ledger.tag(flat->part(), Category::weights);
  step_.ledger.tag(flat->whole(), Category::weights);  // where it stays; the part may lie in it
  return flat;
}

void ShardedModel::draw_parameters() {
  std::map<const void*, std::pair<FlatUnit*, std::size_t>> places;
  for (const Unit& unit : units_) {
    unit.for_each([&](FlatUnit& flat) {
      for (std::size_t i = 0; i < flat.parameters().size(); ++i) {
        places[key_of(flat.parameters()[i])] = {&flat, i};
      }
    });
  }
  step_.draw_parameters([&](std::size_t index, const at::Tensor& values) {
    const auto [flat, place] = places.at(key_of(step_.model.parameters()[index].tensor));
    flat->receive(place, values);
  });
}

void ShardedModel::wrap_blocks() {
  std::size_t index = 0;
  for (Block& block : step_.model.blocks()) wrap_block(index++, block);
}

void ShardedModel::wrap_block(std::size_t index, Block& block) {
  const std::size_t mine = unit_of_block_[index];
  const std::size_t last = unit_of_block_.back();
  const bool ends_unit = index + 1 == unit_of_block_.size() || unit_of_block_[index + 1] != mine;
  const auto before_backward = [self = shared_from_this(), mine, last](const at::Tensor&) {
    // Which backward has left: one with frozen weights is not done when its gradients are there.
    if (mine < last && self->units_[mine + 1].frozen) self->release(self->units_[mine + 1]);
    self->finish_gather(self->units_[mine]);
    if (self->options_.prefetch_backward && mine > 0) {
      self->begin_gather(self->units_[mine - 1]);
    }
  };
  block.run = [self = shared_from_this(), mine, last, ends_unit, before_backward,
               inner = std::move(block.run)](const at::Tensor& x) {
    self->finish_gather(self->units_[mine]);
    if (self->options_.prefetch_forward && mine < last && !in_backward()) {
      self->begin_gather(self->units_[mine + 1]);
    }
    const at::Tensor y = inner(x);
    const bool used_again =
        in_backward() || (!self->options_.reshard_after_forward && at::GradMode::is_enabled());
    if (ends_unit && !used_again) self->release(self->units_[mine]);
    if (y.requires_grad()) y.register_hook(before_backward);
    return y;
  };
}

/// The root's weights stay from the first use in forward to the last one in backward.
void ShardedModel::wrap_run() {
  ModelFunction& run = step_.model.run();
  run = [self = shared_from_this(), inner = std::move(run)](const Batch& batch, Output output) {
    self->fetch_stream_.follow_current();
    self->gather_stream_.follow_current();
    self->finish_gather(self->root());
    at::Tensor y = inner(batch, output);
    if (!at::GradMode::is_enabled()) {
      for (Unit& unit : self->units_) self->release(unit);
    }
    return y;
  };
}

/// Of each parameter the elements that lie in this rank's part of its unit.
std::vector<WeightPart> ShardedModel::own_weights() const {
  std::map<const void*, std::string> names;
  for (const Parameter& p : step_.model.parameters()) names[key_of(p.tensor)] = p.name;
  std::vector<WeightPart> weights;
  for (const Unit& unit : units_) {
    unit.for_each([&](const FlatUnit& flat) {
      for (std::size_t i = 0; i < flat.parameters().size(); ++i) {
        const at::Tensor& parameter = flat.parameters()[i];
        const FlatUnit::Elements own = flat.own_elements(i);
        if (own.begin == own.end) continue;  // they are other ranks'
        TensorPart part = TensorPart::whole(parameter.sizes());
        part.rows = {{own.begin, own.end}};
        weights.push_back({names.at(key_of(parameter)), std::move(part), own.values});
      }
    });
  }
  return weights;
}

void ShardedModel::wrap_verbs() {
  const auto self = shared_from_this();
  step_.own_weights = [self] { return self->own_weights(); };
  step_.parameter_ready = [self](std::size_t index) { self->note_gradient(index); };
  step_.backward = [self, inner = std::move(step_.backward)](const at::Tensor& loss) {
    inner(loss);
    self->finish_backward();
  };
  if (!shards(Sharding::gradients)) {
    step_.collect_gradients = [self] { self->reduce_all(); };
  }
  if (shards(Sharding::weights)) {
    step_.with_weights = [self](const std::function<void()>& call) {
      for (Unit& unit : self->units_) self->finish_gather(unit);
      call();
      for (Unit& unit : self->units_) self->release(unit);
    };
  } else {
    step_.publish_weights = [self] { self->publish_weights(); };
  }
  step_.share.complete = [self](at::Tensor& sum) { self->group_.sum(sum); };
}

bool ShardedModel::Unit::is_gathered() const {
  return trained ? trained->is_allocated() : frozen && frozen->is_allocated();
}

void ShardedModel::begin_gather(Unit& unit) {
  if (unit.is_gathered()) return;
  if (options_.limit_all_gathers && releases_.size() >= kMaxReleases) {
    releases_.front().wait();
    releases_.pop_front();
  }
  unit.for_each([&](FlatUnit& flat) {
    const at::Tensor part = fetch_part(flat);
    const SideStream::Scope scope(gather_stream_);
    flat.allocate();
    step_.ledger.tag(flat.whole(), Category::communication);
    unit.gathering.push_back(flat.gather(part));
    gather_stream_.keep(part);
    step_.evidence.fetched_bytes += flat.fetched_bytes();
    // On CUDA the stream waits, and the host goes on.
    if (recipe_.device.is_cuda()) unit.gathering.back().wait();
    ++step_.evidence.gathers;
  });
}

at::Tensor ShardedModel::fetch_part(const FlatUnit& flat) {
  const SideStream::Scope scope(fetch_stream_);
  at::Tensor part = flat.fetch_part();
  step_.ledger.tag(part, Category::communication);  // a part that is not fetched stays a weight
  gather_stream_.follow(fetch_stream_);
  return part;
}

void ShardedModel::finish_gather(Unit& unit) {
  begin_gather(unit);
  for (Collective& gathering : std::exchange(unit.gathering, {})) {
    if (!recipe_.device.is_cuda()) gathering.wait();
  }
  gather_stream_.join();
}

void ShardedModel::release(Unit& unit) {
  if (!unit.is_gathered()) return;
  finish_gather(unit);  // one that nobody used
  unit.for_each([](FlatUnit& flat) {
    keep_for_current_stream(flat.whole());
    flat.release();
  });
  if (options_.limit_all_gathers) releases_.emplace_back(recipe_.device);
}

void ShardedModel::note_gradient(std::size_t parameter) {
  Unit& unit = units_[unit_of_parameter_[parameter]];
  ++unit.arrived;
  if (shards(Sharding::gradients) && unit.arrived == unit.trained->parameters().size()) {
    reduce(unit);
  }
}

/// Gradients of the whole unit -> their mean over ranks, this rank's part of it, added to what is
/// there already.
void ShardedModel::reduce(Unit& unit) {
  const at::NoGradGuard no_grad;
  unit.reduced = true;
  // Before its gradients are there twice. Frozen weights are read until backward has left the unit.
  if (shards(Sharding::weights) && !unit.frozen) release(unit);
  const at::Tensor whole = unit.trained->take_gradient(reduce_stream_);
  step_.ledger.tag(whole, Category::communication);
  finish_reduction();  // no more than one is under way
  begin_reduction(*unit.trained, whole);
  if (recipe_.device.is_cuda()) finish_reduction();
}

void ShardedModel::begin_reduction(FlatUnit& unit, const at::Tensor& gradient) {
  const SideStream::Scope scope(reduce_stream_);
  const at::Tensor whole = gradient.to(options_.reduce_dtype.value_or(gradient.scalar_type()));
  step_.ledger.tag(whole, Category::communication);
  whole.div_(static_cast<double>(group_.ranks()));
  const at::Tensor part = at::empty({unit.part().numel()}, whole.options());
  step_.ledger.tag(part, Category::gradients);
  reduction_.emplace(Reduction{unit, whole, part, group_.reduce_scatter(part, whole)});
  ++step_.evidence.reductions;
}

void ShardedModel::finish_reduction() {
  if (!reduction_) return;
  Reduction done = std::move(*reduction_);
  reduction_.reset();
  {
    const SideStream::Scope scope(reduce_stream_);
    done.work.wait();
    release_storage(done.whole);
    if (on_host_) {
      send_gradient(done.unit, done.part);
    } else {
      keep_gradient(done.unit, done.part);
    }
  }
  // PyTorch takes it for the computation's; what is sent from there can be used again later.
  if (on_host_) keep_for_current_stream(done.part);
}

void ShardedModel::send_gradient(FlatUnit& unit, const at::Tensor& part) {
  const at::NoGradGuard no_grad;
  const at::Tensor on_host = host_buffer_like(part);
  on_host.copy_(part, /*non_blocking=*/true);
  step_.evidence.offloaded_bytes += static_cast<std::int64_t>(on_host.nbytes());
  arrivals_.push_back({unit, on_host});
}

void ShardedModel::keep_gradient(FlatUnit& unit, const at::Tensor& part) {
  const at::NoGradGuard no_grad;
  at::Tensor& gradient = at::Tensor(unit.part()).mutable_grad();
  if (gradient.defined()) {
    gradient.add_(part);
  } else {
    gradient = options_.keep_gradient_dtype ? part : part.to(unit.part().scalar_type());
    step_.ledger.tag(gradient, Category::gradients);
  }
}

/// What was copied to the host is there once the device is done with it.
void ShardedModel::collect_from_device() {
  if (arrivals_.empty()) return;
  StreamPoint(recipe_.device).wait();
  for (const Arrival& arrival : arrivals_) keep_gradient(arrival.unit, arrival.on_host);
  arrivals_.clear();
}

void ShardedModel::reduce_all() {
  for (Unit& unit : units_) {
    if (unit.trained && !unit.reduced) reduce(unit);
  }
  finish_reduction();
  reduce_stream_.join();
  collect_from_device();
  for (Unit& unit : units_) unit.reduced = false;
  for (std::size_t i = 0; i < step_.trained.size(); ++i) step_.gradient_ready(i);
}

void ShardedModel::finish_backward() {
  if (shards(Sharding::gradients)) reduce_all();  // units of which a parameter got no gradient
  for (Unit& unit : units_) {
    unit.arrived = 0;
    if (shards(Sharding::weights)) release(unit);
  }
}

void ShardedModel::publish_weights() {
  std::deque<Collective> gathering;
  for (const Unit& unit : units_) {
    if (!unit.trained) continue;
    // Where parts are sent as copies there are no more than two.
    while (recipe_.weights_at_work && gathering.size() > 1) {
      gathering.front().wait();
      gathering.pop_front();
    }
    const at::Tensor part = unit.trained->fetch_part();
    step_.ledger.tag(part, Category::communication);  // one that is no copy stays a weight
    gathering.push_back(unit.trained->gather(part));
    ++step_.evidence.gathers;
  }
  for (Collective& one : gathering) one.wait();
}

}  // namespace headroom
