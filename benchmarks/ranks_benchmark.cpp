// SPDX-License-Identifier: Apache-2.0
// What several ranks cost on the CPU: collectives beside a plain copy of the bytes that they must
// move, a step beside the same step of ranks that do not join, and what fsdp's prefetch hides.
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "benchmarks/ranks.h"
#include "benchmarks/training.h"
#include "src/distributed/flat_unit.h"

namespace headroom {
namespace {

constexpr std::int64_t kKiB = 1024;

/// What a rank must send, and receive, of `size` KiB that all ranks share: (N - 1) / N of it.
std::int64_t bytes_to_move(std::int64_t ranks, std::int64_t size) {
  return size * kKiB / ranks * (ranks - 1);
}

/// A plain copy of as many bytes, by all ranks at once.
Part copy(std::int64_t bytes) {
  return [from = at::ones({bytes}, at::kByte), to = at::ones({bytes}, at::kByte)] {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
    benchmark::DoNotOptimize(to.mutable_data_ptr());
  };
}

std::shared_ptr<ProcessGroup> make_group(Meetings& meetings) {
  return std::make_shared<ProcessGroup>(meetings.next(), at::kCPU, CollectiveBackend::gloo);
}

std::vector<Part> make_gather(Meetings& meetings, std::int64_t size) {
  const auto group = make_group(meetings);
  const at::Tensor weights = at::ones({size * kKiB / 4});
  const auto unit = std::make_shared<FlatUnit>(std::vector<at::Tensor>{weights}, *group,
                                               FlatUnitOptions{.gathered = true});
  unit->allocate();
  return {[group, unit] { unit->gather(unit->fetch_part()).wait(); },
          copy(bytes_to_move(meetings.ranks(), size))};
}

std::vector<Part> make_reduce_scatter(Meetings& meetings, std::int64_t size) {
  const auto group = make_group(meetings);
  const at::Tensor whole = at::zeros({size * kKiB / 4});
  const at::Tensor part = at::zeros({whole.numel() / meetings.ranks()});
  return {[group, whole, part] { group->reduce_scatter(part, whole).wait(); },
          copy(bytes_to_move(meetings.ranks(), size))};
}

void report_bytes(benchmark::State& state, std::int64_t ranks, std::int64_t size,
                  std::span<const double> seconds) {
  const auto bytes = static_cast<double>(bytes_to_move(ranks, size));
  state.counters["bytes_per_second"] = bytes / seconds[0];
  state.counters["copy_bytes_per_second"] = bytes / seconds[1];
  state.counters["times_a_copy"] = seconds[0] / seconds[1];
}

/// A step of vit_ti_16 at 64 pixels.
Part step(const Membership& membership, const char* techniques, std::int64_t batch_size) {
  const std::shared_ptr<Training> training(
      new Training(Training::vit_rank(membership, techniques, batch_size)));
  return [training] { training->step(); };
}

/// Of a rank that joins no others, while they do the same: the computation alone.
Part step_alone(std::int64_t batch_size) { return step({}, "[]", batch_size); }

std::vector<Part> make_ddp_step(Meetings& meetings, std::int64_t batch_size) {
  return {step(meetings.next(), R"([{"name": "ddp"}])", batch_size), step_alone(batch_size)};
}

std::vector<Part> make_fsdp_step(Meetings& meetings, std::int64_t batch_size) {
  return {step(meetings.next(), R"([{"name": "fsdp"}])", batch_size), step_alone(batch_size)};
}

void report_step(benchmark::State& state, std::int64_t ranks, std::int64_t batch_size,
                 std::span<const double> seconds) {
  state.counters["samples_per_second"] = static_cast<double>(ranks * batch_size) / seconds[0];
  state.counters["alone_ms"] = seconds[1] * 1e3;
  state.counters["times_alone"] = seconds[0] / seconds[1];
}

std::vector<Part> make_prefetch(Meetings& meetings, std::int64_t batch_size) {
  const char* const without = R"([{"name": "fsdp", "prefetch_backward": false}])";
  return {step(meetings.next(), R"([{"name": "fsdp"}])", batch_size),
          step(meetings.next(), without, batch_size), step_alone(batch_size)};
}

void report_prefetch(benchmark::State& state, std::int64_t, std::int64_t,
                     std::span<const double> seconds) {
  state.counters["without_ms"] = seconds[1] * 1e3;
  state.counters["alone_ms"] = seconds[2] * 1e3;
  // Of what ranks cost beside the computation.
  state.counters["hidden_percent"] = 100.0 * (seconds[1] - seconds[0]) / (seconds[1] - seconds[2]);
}

constexpr RankedWork kGather{"gather", make_gather, report_bytes};
constexpr RankedWork kReduceScatter{"reduce_scatter", make_reduce_scatter, report_bytes};
constexpr RankedWork kDdpStep{"ddp_step", make_ddp_step, report_step};
constexpr RankedWork kFsdpStep{"fsdp_step", make_fsdp_step, report_step};
constexpr RankedWork kPrefetch{"prefetch", make_prefetch, report_prefetch};
constexpr std::array kWorks{kGather, kReduceScatter, kDdpStep, kFsdpStep, kPrefetch};

/// KiB that ranks share: a block of vit_ti_16, one of vit_b_16, of vit_l_16.
void collectives(benchmark::internal::Benchmark* of) {
  of->ArgsProduct({{2, 4}, {1738, 27687, 49204}})->ArgNames({"ranks", "KiB"});
  of->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
}

/// More ranks, each with as many samples as before.
void weak_scaling(benchmark::internal::Benchmark* of) {
  of->ArgsProduct({{1, 2, 4}, {16}})->ArgNames({"ranks", "batch"});
  of->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);
}

/// More ranks, which share as many samples as before.
void strong_scaling(benchmark::internal::Benchmark* of) {
  of->Args({1, 32})->Args({2, 16})->Args({4, 8})->ArgNames({"ranks", "batch"});
  of->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(run_on_ranks, gather, kGather)->Apply(collectives);
BENCHMARK_CAPTURE(run_on_ranks, reduce_scatter, kReduceScatter)->Apply(collectives);
BENCHMARK_CAPTURE(run_on_ranks, ddp_weak_scaling, kDdpStep)->Apply(weak_scaling);
BENCHMARK_CAPTURE(run_on_ranks, fsdp_weak_scaling, kFsdpStep)->Apply(weak_scaling);
BENCHMARK_CAPTURE(run_on_ranks, ddp_strong_scaling, kDdpStep)->Apply(strong_scaling);
BENCHMARK_CAPTURE(run_on_ranks, fsdp_strong_scaling, kFsdpStep)->Apply(strong_scaling);
BENCHMARK_CAPTURE(run_on_ranks, prefetch, kPrefetch)
    ->ArgsProduct({{2, 4}, {4, 16}})
    ->ArgNames({"ranks", "batch"})
    ->Iterations(25)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom

int main(int count, char** arguments) {
  return headroom::ranks_main(count, arguments, headroom::kWorks);
}
