// SPDX-License-Identifier: Apache-2.0
// What running blocks again costs in time. The memory it saves is max_bytes_used in JSON output.
#include <benchmark/benchmark.h>

#include "benchmarks/training.h"

namespace headroom {
namespace {

/// At this batch size the peak is what blocks save, and not the update.
constexpr std::int64_t kBatchSize = 32;

void step(benchmark::State& state, const char* techniques) {
  Training training = Training::vit(techniques, kBatchSize);
  training.step();  // makes the optimizer's state
  for (auto _ : state) training.step();
}

BENCHMARK_CAPTURE(step, plain, "[]")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(step, checkpointed, R"([{"name": "activation_checkpointing"}])")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(step, checkpointed_reentrant,
                  R"([{"name": "activation_checkpointing", "reentrant": true}])")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace headroom
