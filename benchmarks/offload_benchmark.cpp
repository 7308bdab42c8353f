// SPDX-License-Identifier: Apache-2.0
// What moving tensors to the host pool and back costs. On the CPU device both ends are RAM.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>

#include "benchmarks/training.h"
#include "src/memory/host_memory.h"
#include "src/memory/streams.h"

namespace headroom {
namespace {

at::Tensor device_tensor(const benchmark::State& state) {
  return at::ones({state.range(0)}, at::TensorOptions().dtype(at::kByte));
}

void copy_to_host(benchmark::State& state) {
  const at::Tensor source = device_tensor(state);
  CopyStream stream(at::kCPU);
  for (auto _ : state) {
    const at::Tensor host = host_buffer_like(source);
    stream.wait(stream.copy(host, source));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void copy_to_device(benchmark::State& state) {
  const at::Tensor host = host_buffer_like(device_tensor(state)).fill_(1);
  for (auto _ : state) {
    at::Tensor fetched = at::empty_like(host);
    benchmark::DoNotOptimize(fetched.copy_(host).data_ptr());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// At this batch size the peak is what blocks save, and not the update.
constexpr std::int64_t kBatchSize = 32;

void step(benchmark::State& state, const char* techniques) {
  Training training = Training::vit(techniques, kBatchSize);
  training.step();  // makes the optimizer's state and the pool's buffers
  for (auto _ : state) training.step();
}

BENCHMARK(copy_to_host)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26)->UseRealTime();
BENCHMARK(copy_to_device)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26)->UseRealTime();
BENCHMARK_CAPTURE(step, plain, "[]")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(step, activation_offload, R"([{"name": "activation_offload"}])")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(step, optimizer_offload, R"([{"name": "optimizer_offload"}])")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace headroom
