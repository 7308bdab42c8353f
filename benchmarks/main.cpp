// SPDX-License-Identifier: Apache-2.0
// The main function of the benchmarks that use LibTorch and do not watch memory themselves.
#include <benchmark/benchmark.h>

#include "benchmarks/memory_manager.h"
#include "src/memory/saved_tensors.h"

int main(int count, char** arguments) {
  headroom::install_saved_tensor_hooks();
  headroom::MemoryManager memory;
  benchmark::RegisterMemoryManager(&memory);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::RegisterMemoryManager(nullptr);
  benchmark::Shutdown();
  return 0;
}
