// SPDX-License-Identifier: Apache-2.0
#include "src/programs/rank_runs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "src/core/scratch_folder.h"
#include "src/programs/played_rank.h"

namespace headroom {
namespace {

// In each, who failed may get further by one message of each other rank.
constexpr int kMostTurns = 20;

struct RankRun {
  DryOutcome outcome;
  PlayedStore::Values values{};   // that it has set in its store
  std::uintmax_t told_bytes = 0;  // by all ranks so far, once it has run
};

using Runs = std::map<int, RankRun>;  // by rank, the last of each

std::uintmax_t bytes_in(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

PlayedStore::Values values_of_others(const Runs& runs, int rank) {
  PlayedStore::Values values;
  for (const auto& [other, run] : runs) {
    if (other != rank) values.insert(run.values.begin(), run.values.end());
  }
  return values;
}

RankRun run_rank(const DryCommand& command, const PlayedRank& played,
                 const std::filesystem::path& told, PlayedStore::Values of_others) {
  StoreServer store(std::move(of_others));
  RankRun run;
  run.outcome = run_program(command, environment_of(played, store.port(), told), &store);
  run.values = store.values();
  run.told_bytes = bytes_in(told);
  return run;
}

/// A rank that has not run, or failed and has been told something since.
bool has_to_run(const Runs& runs, int rank, const std::filesystem::path& told) {
  const auto run = runs.find(rank);
  if (run == runs.end()) return true;
  return !run->second.outcome.end.is_good() && run->second.told_bytes != bytes_in(told);
}

/// Those but rank 0, as it tells of itself.
std::vector<int> others_of(int world, const DryReports& of_first) {
  std::int64_t stages = 1;
  for (const auto& report : of_first.whole) {
    stages = std::max(stages, report.value("stages", stages));
  }
  std::vector<int> list;
  const bool can_be_divided = world % stages == 0;
  for (std::int64_t stage = 1; can_be_divided && stage < stages; ++stage) {
    list.push_back(static_cast<int>(stage * (world / stages)));
  }
  // The last stage's other ranks would have to be told by ranks that are not planned.
  if (world > 1 && stages == 1) list.push_back(world - 1);
  return list;
}

/// Of all ranks.
DryOutcome joined(Runs runs) {
  DryOutcome all;
  for (auto& [rank, run] : runs) {
    const bool was_cut = all.end.was_cut || run.outcome.end.was_cut;
    if (all.end.is_good()) all.end = run.outcome.end;
    all.end.was_cut = was_cut;
    all.reports.damaged += run.outcome.reports.damaged;
    std::ranges::move(run.outcome.reports.whole, std::back_inserter(all.reports.whole));
  }
  return all;
}

}  // namespace

DryOutcome run_ranks(const DryCommand& command, PlayedRanks& ranks) {
  const ScratchFolder told;
  Runs runs;
  if (ranks.are_all) ranks.list = {0};
  for (int turn = 0; turn < kMostTurns; ++turn) {
    bool has_run = false;
    for (std::size_t i = 0; i < ranks.list.size(); ++i) {
      const int rank = ranks.list[i];
      if (!has_to_run(runs, rank, told.path())) continue;
      RankRun run =
          run_rank(command, {rank, ranks.world}, told.path(), values_of_others(runs, rank));
      const bool goes_on = run.outcome.end.is_good() || run.told_bytes > 0;
      const bool is_ended = run.outcome.end.was_ended();
      if (std::exchange(ranks.are_all, false)) {
        const auto others = others_of(ranks.world, run.outcome.reports);
        ranks.list.insert(ranks.list.end(), others.begin(), others.end());
      }
      runs[rank] = std::move(run);
      has_run = true;
      if (!goes_on || is_ended) return joined(std::move(runs));
    }
    if (!has_run) break;
  }
  return joined(std::move(runs));
}

}  // namespace headroom
