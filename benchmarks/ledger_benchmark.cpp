// SPDX-License-Identifier: Apache-2.0
// What the ledger costs: of a training step, and by event.
#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/training.h"
#include "src/memory/device_memory.h"
#include "src/memory/position.h"
#include "src/memory/saved_tensors.h"

namespace headroom {
namespace {

constexpr std::int64_t kBatchSize = 8;

enum class Watch {
  nothing,
  timed,  // allocations and saved tensors, as while steps are timed
  all,    // operators too, as in the steps before
};

/// Processor time of the whole process: on a machine with other work it says more than the clock.
double step_seconds(Training& training, Watch watch) {
  std::unique_ptr<DeviceMemory> memory;
  std::optional<OperatorScope> operators;
  std::optional<SavedTensorObserver> saved;
  if (watch != Watch::nothing) memory = watch_cpu_memory(training.ledger());
  if (watch != Watch::nothing) {
    saved.emplace([&](const at::Tensor& t) { training.ledger().tag(t, Category::activations); });
  }
  if (watch == Watch::all) operators.emplace();
  const std::clock_t start = std::clock();
  training.step();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A median and its standard error, from the median distance to it: single steps that something
/// disturbed count for little.
struct Estimate {
  double value;
  double error;
};

Estimate estimate(const std::vector<double>& values) {
  const double value = median(values);
  std::vector<double> distances;
  for (const double v : values) distances.push_back(std::abs(v - value));
  const double of_one = 1.4826 * median(distances);  // of a normal distribution
  return {value, 1.2533 * of_one / std::sqrt(static_cast<double>(values.size()))};
}

/// One iteration is one step of each kind, in turn and beginning with another kind each time, so
/// that what else the machine does falls on all of them. Steps of one turn are compared.
void overhead(benchmark::State& state, Training (*make)(std::string_view, std::int64_t)) {
  Training training = make("[]", kBatchSize);
  training.step();
  std::vector<double> bare;
  std::array<std::vector<double>, 2> more;  // than the bare step: while timed, with operators
  std::size_t first = 0;
  for (auto _ : state) {
    std::array<double, 3> seconds{};
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const std::size_t kind = (first + i) % seconds.size();
      seconds[kind] = step_seconds(training, static_cast<Watch>(kind));
    }
    ++first;
    bare.push_back(seconds[0]);
    for (std::size_t kind = 1; kind < seconds.size(); ++kind) {
      more[kind - 1].push_back(seconds[kind] - seconds[0]);
    }
  }
  const double bare_step = median(bare);
  const auto report = [&](const std::string& name, const Estimate& of) {
    state.counters[name + "_percent"] = 100.0 * of.value / bare_step;
    state.counters[name + "_error_percent"] = 100.0 * of.error / bare_step;
  };
  state.counters["bare_step_cpu_ms"] = bare_step * 1e3;
  report("while_timed", estimate(more[0]));
  report("with_operators", estimate(more[1]));
}

/// A ledger with as many live allocations as a training step of a small model has.
void fill(Ledger& ledger) {
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    ledger.allocated(reinterpret_cast<const void*>(i * 64), 4096, 0);
  }
}

void allocated_and_freed(benchmark::State& state) {
  Ledger ledger;
  fill(ledger);
  const void* const address = &ledger;
  for (auto _ : state) {
    ledger.allocated(address, 4096, 0);
    ledger.freed(address);
  }
  state.SetItemsProcessed(2 * state.iterations());
}

void tag(benchmark::State& state) {
  Ledger ledger;
  fill(ledger);
  const at::Tensor tensor = at::empty({1024}, at::TensorOptions().dtype(at::kFloat));
  ledger.allocated(tensor.storage().data(), 4096, 0);
  for (auto _ : state) ledger.tag(tensor, Category::activations);
}

BENCHMARK_CAPTURE(overhead, vit_ti_16, &Training::vit)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(100)
    ->UseRealTime();
BENCHMARK_CAPTURE(overhead, bert_mini, &Training::bert)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(100)
    ->UseRealTime();
BENCHMARK(allocated_and_freed);
BENCHMARK(tag);

}  // namespace
}  // namespace headroom

// No memory manager of the benchmark's: there is at most one watch at a time.
int main(int count, char** arguments) {
  headroom::install_saved_tensor_hooks();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
