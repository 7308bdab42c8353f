// SPDX-License-Identifier: Apache-2.0
// What reading a suite costs: a user waits for it before anything is measured.
#include <benchmark/benchmark.h>

#include <string>

#include "src/core/file.h"
#include "src/core/scratch_folder.h"
#include "src/suite/suite.h"

namespace headroom {
namespace {

constexpr std::size_t kCatalogBytes = 16 * 1024 * 1024;
constexpr std::size_t kCases = 200;

std::string catalog_text() { return read_file(HEADROOM_CATALOG_FILE, kCatalogBytes); }

/// Two cases times a matrix of 100.
std::string suite_text() {
  std::string seeds = "1";
  for (int seed = 2; seed <= 25; ++seed) seeds += ", " + std::to_string(seed);
  return R"(suite: benchmark
defaults:
  model: {name: vit_ti_16}
  data: {name: random_images, image_size: 64}
cases:
  - name: vanilla
  - name: checkpointed
    techniques: [activation_checkpointing, {gradient_accumulation: {micro_batches: 2}}]
matrix:
  train.batch_size: [2, 4, 8, 16]
  train.seed: [)" +
         seeds + "]\n";
}

void load_200_cases(benchmark::State& state) {
  const Catalog catalog = parse_catalog(catalog_text());
  const ScratchFolder folder;
  const std::string path = folder.path() / "suite.yaml";
  write_file_atomically(path, suite_text());
  for (auto _ : state) {
    if (load_suite(path, catalog).cases.size() != kCases) state.SkipWithError("not 200 cases");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCases));
}

void read_catalog(benchmark::State& state) {
  const std::string text = catalog_text();
  for (auto _ : state) benchmark::DoNotOptimize(parse_catalog(text));
}

BENCHMARK(load_200_cases)->Unit(benchmark::kMillisecond);
BENCHMARK(read_catalog)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
