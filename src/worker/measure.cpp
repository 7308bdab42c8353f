// SPDX-License-Identifier: Apache-2.0
#include "src/worker/measure.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "models/data/loader.h"
#include "src/machine/gpu_condition.h"
#include "src/machine/processes.h"
#include "src/memory/host_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/worker/flops.h"
#include "src/worker/plan_clock.h"
#include "techniques/mixed_precision.h"

namespace headroom {
namespace {

PeakMemory larger(const PeakMemory& a, const PeakMemory& b) {
  return {.allocated_bytes = std::max(a.allocated_bytes, b.allocated_bytes),
          .reserved_bytes = std::max(a.reserved_bytes, b.reserved_bytes)};
}

/// The share of held-out samples that the model names right, on at most `train.held_out_samples` of
/// them, in micro-batches, without dropout, in the dtype of the weights. Empty where the data set
/// holds none out.
std::optional<double> held_out_accuracy(Model& model, const Dataset& data, const Recipe& recipe) {
  const std::int64_t samples = std::min(recipe.train.held_out_samples, data.held_out_size());
  if (samples == 0) return std::nullopt;
  const at::NoGradGuard no_grad;
  const AutocastScope autocast(recipe.autocast_state());  // as the training steps compute
  model.set_training(false);
  std::int64_t right = 0;
  std::int64_t told = 0;
  for (std::int64_t start = 0; start < samples; start += recipe.micro_batch_size()) {
    std::vector<std::int64_t> indices(
        static_cast<std::size_t>(std::min(recipe.micro_batch_size(), samples - start)));
    std::iota(indices.begin(), indices.end(), start);
    const Batch on_host = data.held_out(indices);
    told += model.targets(on_host).ne(kNoTarget).sum().item<std::int64_t>();
    const Batch batch = on_host.to(recipe.device);
    right += model.logits(batch).argmax(-1).eq(model.targets(batch)).sum().item<std::int64_t>();
  }
  model.set_training(true);
  return static_cast<double>(right) / static_cast<double>(told);
}

/// Floating-point operations a second of the best of a few large square products of random numbers:
/// what this machine reaches now, against which utilisation is read. A data sheet's peak is reached
/// by no product. Source of the idea: "maximum achievable matmul FLOPS", stas00/ml-engineering.
double product_ceiling(c10::Device device, at::ScalarType dtype) {
  const at::NoGradGuard no_grad;
  const std::int64_t size = device.is_cpu() ? 1024 : 8192;
  const auto options = at::TensorOptions().device(device).dtype(dtype);
  const at::Tensor a = at::randn({size, size}, options);
  const at::Tensor b = at::randn({size, size}, options);
  // Counted as those of a step are.
  const auto flops = static_cast<double>([&] {
    const FlopCounter counter;
    at::mm(a, b);
    return counter.so_far().all;
  }());
  double shortest = 1e300;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    at::mm(a, b)[0][0].item<double>();  // reading one element waits for the product
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, seconds.count());
  }
  return flops / shortest;
}

/// One case on its way: the same few steps, said once.
class Run {
 public:
  Run(const WorkerCase& measured, const Messages& messages)
      : recipe_(measured.recipe),
        messages_(messages),
        memory_(watch_memory(recipe_.device, ledger_)),
        operators_(std::in_place),
        saved_([this](const at::Tensor& t) { ledger_.tag(t, Category::activations); }),
        data_(find_data(recipe_.data.name)
                  .make(recipe_.data, recipe_.model.num_classes, recipe_.train.seed)),
        trainer_(recipe_, measured.techniques, ledger_) {}

  /// Takes `count` steps, keeps their times and losses, and reads the peak behind them.
  PeakMemory steps(const char* phase, long count, Measurement& into, bool is_counted = false) {
    if (count > 0 && !loader_) {
      loader_.emplace(*data_, recipe_.data, recipe_.train.batch_size, recipe_.train.seed,
                      recipe_.batch_share());
    }
    into.step_time_ns.clear();
    into.data_wait_ns.clear();
    const std::int64_t copied_before = trainer_.copied_bytes();
    const std::int64_t sent_before = trainer_.sent_bytes();
    for (long i = 0; i < count; ++i) {
      messages_.progress(phase, i + 1, count);
      const auto start = std::chrono::steady_clock::now();
      const Batch batch = next_batch(into);
      into.losses.push_back(is_counted ? trainer_.counted_step(batch) : trainer_.step(batch));
      const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
      into.step_time_ns.push_back(time.count());
      if (!recipe_.computes) end_step_of_plan();
    }
    if (count > 0) into.copied_bytes_per_step = (trainer_.copied_bytes() - copied_before) / count;
    if (count > 0) into.sent_bytes_per_step = (trainer_.sent_bytes() - sent_before) / count;
    return take_peak(into);
  }

  PeakMemory take_peak(Measurement& into) {
    const PeakMemory peak = memory_->take_peak();
    into.run = larger(into.run, peak);
    return peak;
  }

  /// Takes one more step, counts what it computes and follows its memory.
  void count_step(Measurement& into) {
    const FlopCounter counter;
    ledger_.start_places();
    steps("counting", 1, into, /*is_counted=*/true);
    into.step_memory = ledger_.end_places();
    trainer_.evidence().flops = counter.so_far().all;
    trainer_.evidence().low_precision_flops = counter.so_far().low_precision;
  }

  /// Following operators costs a few hundredths of a small model's step, so it ends before steps
  /// are timed. What autograd saves is followed to the end, which costs little: on CUDA what the
  /// allocator rounds up differs from step to step, so a run's peak may fall in any of them.
  void stop_following_operators() { operators_.reset(); }

  std::optional<double> accuracy() {
    const PhaseScope phase(Phase::evaluate);
    return held_out_accuracy(trainer_.model(), *data_, recipe_);
  }

  /// Gives why the weights could not be written; empty: they are. What was measured stands.
  std::string save_weights(const std::string& folder) {
    const Membership& membership = recipe_.membership;
    try {
      write_weight_parts(folder, {membership.rank, membership.ranks, membership.attempt},
                         trainer_.own_weights());
    } catch (const std::system_error& error) {
      return error.what();
    }
    return "";
  }

  /// Reads what is known only at the end.
  void finish(Measurement& into) {
    take_peak(into);
    into.peak = ledger_.peak();
    into.evidence = trainer_.final_evidence();
    into.first_gradient_norm = trainer_.first_gradient_norm();
    into.pinned_peak_bytes = host_pool_peak_bytes();
    into.model_states_bytes = trainer_.model_states_bytes();
    into.host_peak_bytes = host_peak_bytes();
  }

 private:
  Batch next_batch(Measurement& into) {
    const PhaseScope phase(Phase::load);
    const auto start = std::chrono::steady_clock::now();
    Batch batch = loader_->next();
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    into.data_wait_ns.push_back(time.count());
    return batch;
  }

  const Recipe& recipe_;
  const Messages& messages_;
  Ledger ledger_;
  std::unique_ptr<DeviceMemory> memory_;
  std::optional<OperatorScope> operators_;
  SavedTensorObserver saved_;
  std::unique_ptr<Dataset> data_;
  Trainer trainer_;
  std::optional<Loader> loader_;
};

void set_global_state(const Recipe& recipe) {
  apply(recipe.allocator);
  at::globalContext().setAllowTF32CuBLAS(recipe.train.tf32);
  at::globalContext().setAllowTF32CuDNN(recipe.train.tf32);
}

}  // namespace

Measurement measure(const WorkerCase& measured, const Messages& messages) {
  const Recipe& recipe = measured.recipe;
  const bool trains = recipe.train.steps > 0;
  Measurement result;
  set_global_state(recipe);
  if (!recipe.computes) share_host_pool();
  const auto driver_before = driver_memory_bytes(recipe.device);

  messages.progress("build");
  std::optional<Run> run(std::in_place, measured, messages);
  result.init = run->take_peak(result);
  run->steps("warm_up", recipe.train.warmup_steps, result);
  if (trains) run->count_step(result);
  run->stop_following_operators();
  const bool alone = recipe.membership.ranks == 1;
  result.gpu_before = read_gpu_condition(recipe.device, alone);
  const GpuUtilisation utilisation(recipe.device);
  const OtherLoad others(alone);
  result.steady = run->steps("timing", recipe.train.steps, result);
  result.other_load_percent = others.percent();
  result.gpu_utilisation_percent = utilisation.percent();
  result.gpu_after = read_gpu_condition(recipe.device, alone);
  messages.progress("evaluate");
  if (trains) result.held_out_accuracy = run->accuracy();
  run->finish(result);
  if (recipe.computes && !recipe.train.save_weights.empty()) {
    messages.progress("save");
    result.why_not_saved = run->save_weights(recipe.train.save_weights + "/" + measured.name);
  }
  if (driver_before) result.driver_bytes = driver_memory_bytes(recipe.device);
  if (result.driver_bytes) *result.driver_bytes -= *driver_before;
  run.reset();
  // Last, when nothing is measured any more and the memory is free again.
  if (trains && recipe.computes) {
    result.ceiling_flops = product_ceiling(recipe.device, recipe.product_dtype());
  }
  return result;
}

}  // namespace headroom
