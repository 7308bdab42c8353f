// SPDX-License-Identifier: Apache-2.0
// What keeping a case costs. The figures are those of the file system below TMPDIR.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "src/core/scratch_folder.h"
#include "src/results/journal.h"

namespace headroom {
namespace {

/// As large as the entry of a case with 40 steps: 70 columns, the steps' times and losses.
nlohmann::ordered_json typical_record() {
  nlohmann::ordered_json row;
  for (int i = 0; i < 70; ++i) row["a_column_with_a_name_" + std::to_string(i)] = 26'790'000'000;
  return {{"case", "vanilla"},
          {"row", row},
          {"record",
           {{"status", "ok"},
            {"columns", row},
            {"step_time_ns", std::vector<long>(40, 123'456'789)},
            {"loss", std::vector<double>(40, 2.302585092994046)}}}};
}

void append(benchmark::State& state) {
  const ScratchFolder folder;
  Journal journal(folder.path() / "journal.jsonl");
  const auto record = typical_record();
  for (auto _ : state) journal.append(record);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(record.dump().size()));
}

void open_200_records(benchmark::State& state) {
  const ScratchFolder folder;
  const std::string path = folder.path() / "journal.jsonl";
  {
    Journal journal(path);
    for (int i = 0; i < 200; ++i) journal.append(typical_record());
  }
  for (auto _ : state) {
    const Journal journal(path);
    benchmark::DoNotOptimize(journal.records().size());
  }
}

BENCHMARK(append)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(open_200_records)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace headroom
