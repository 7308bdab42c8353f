// SPDX-License-Identifier: Apache-2.0
#include "src/compare/comparison.h"

#include <algorithm>
#include <string_view>

#include "src/core/error.h"
#include "src/core/json.h"
#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/suite/case.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// The techniques by name, so that an option that only one of two versions knows is told from
/// another value.
Json comparable(Json work) {
  const Json list = member(work, "techniques");
  Json techniques = Json::object();
  for (const Json& technique : list) {
    techniques[technique.at("name").get<std::string>()] = technique;
  }
  work["stack"] = technique_names(list);
  work["techniques"] = techniques;
  return work;
}

/// A LibTorch of the same version may have been built anew.
void add_libraries(const Repeats& old_case, const Repeats& new_case,
                   const std::vector<Varied>& may_vary, MachineDifferences& into) {
  const std::string& old_hash = old_case.libraries;
  const std::string& new_hash = new_case.libraries;
  if (old_hash.empty() || new_hash.empty() || old_hash == new_hash) return;
  const bool is_tried = std::ranges::find(may_vary, Varied::libtorch) != may_vary.end();
  (is_tried ? into.varied : into.others)
      .push_back(JsonDifference{kLibrariesKey, old_hash, new_hash}.text());
}

/// What differs between the machines. Of plans: the GPU that is played. A LibTorch is part of the
/// machine where something is measured; of a plan it is what is tried.
MachineDifferences differences_of_machines(const Repeats& old_case, const Repeats& new_case,
                                           const std::vector<Varied>& may_vary) {
  MachineDifferences result;
  if (!old_case.runs.empty() && !new_case.runs.empty()) {
    result = machine_differences(*old_case.runs.front(), *new_case.runs.front(), old_case.kind,
                                 may_vary);
  }
  if (old_case.device != new_case.device) {
    result.others.push_back(JsonDifference{"device", old_case.device, new_case.device}.text());
  }
  if (old_case.kind != "planned") add_libraries(old_case, new_case, may_vary, result);
  return result;
}

/// What differs between the work of the two. A field that only one of them knows does not: its
/// program is of another version.
std::vector<std::string> work_differences(const Repeats& old_case, const Repeats& new_case) {
  std::vector<std::string> list;
  if (old_case.kind != new_case.kind) {
    list.push_back(JsonDifference{"kind", old_case.kind, new_case.kind}.text());
  }
  if (old_case.runs.empty() || new_case.runs.empty()) return list;
  const Json old_work = comparable(old_case.runs.front()->work);
  const Json new_work = comparable(new_case.runs.front()->work);
  for (const JsonDifference& difference : differences(old_work, new_work)) {
    if (difference.is_in_both) list.push_back(difference.text());
  }
  return list;
}

/// Where the peak of a run was.
std::string place_of(const Row& row) {
  std::string place = text_in(row, column::peak_phase);
  if (const auto block = integer_in(row, column::peak_block)) {
    place += ", block " + std::to_string(*block);
  }
  if (const std::string op = text_in(row, column::peak_operator); !op.empty()) place += ", " + op;
  return place;
}

/// A case can end well, or well for what it tells (it does not fit, it can't run here), or badly.
int gravity(const std::string& status) {
  if (status == "ok") return 0;
  return status == "out_of_memory" || status == "unsupported" ? 1 : 2;
}

/// Judges a case whose status changed.
void judge_status(const Repeats& new_case, CaseChange& change) {
  const int before = gravity(change.old_status);
  const int now = gravity(change.new_status);
  // From one bad end to another nothing got worse, but it is not the same either.
  change.trend = now > before ? Trend::worse : now < before ? Trend::better : Trend::unclear;
  if (!new_case.runs.empty()) change.reason = text_in(new_case.row(), column::reason);
}

/// The growth of the peak of allocated bytes, where it changed.
std::vector<Growth> growth_of_peak(const Repeats& old_case, const Repeats& new_case,
                                   const std::vector<FigureChange>& figures) {
  static constexpr std::string_view kPeak = column::run_peak_allocated_bytes;
  const auto peak = std::ranges::find(figures, kPeak, &FigureChange::column);
  if (peak == figures.end() || peak->trend == Trend::same) return {};
  const auto run_with = [](const Repeats& repeats, double bytes) {
    const auto found = std::ranges::find_if(
        repeats.runs, [&](const CaseResult* run) { return number_in(run->row, kPeak) == bytes; });
    return found == repeats.runs.end() ? repeats.runs.front() : *found;
  };
  return growth(*run_with(old_case, peak->old_value), *run_with(new_case, peak->new_value));
}

CaseChange compare_case(const Repeats& old_case, const Repeats& new_case) {
  CaseChange change{.suite = old_case.suite,
                    .name = old_case.name,
                    .old_status = old_case.status(),
                    .new_status = new_case.status()};
  if (change.old_status != change.new_status) judge_status(new_case, change);
  if (old_case.runs.empty() || new_case.runs.empty()) return change;
  change.figures = figure_changes(old_case, new_case);
  for (const FigureChange& figure : change.figures) {
    if (change.old_status == change.new_status) change.trend = std::max(change.trend, figure.trend);
  }
  change.old_place = place_of(old_case.row());
  change.new_place = place_of(new_case.row());
  change.growth = growth_of_peak(old_case, new_case, change.figures);
  return change;
}

void add_once(const std::vector<std::string>& texts, std::vector<std::string>& list) {
  for (const std::string& text : texts) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  }
}

/// Takes back the trends of a case that is of another machine or of other work.
void withhold_trends(CaseChange& change) {
  const auto withhold = [](Trend& trend) {
    if (trend != Trend::same) trend = Trend::unclear;
  };
  withhold(change.trend);
  for (FigureChange& figure : change.figures) withhold(figure.trend);
}

}  // namespace

bool Comparison::is_of_the_same() const {
  const auto is_same = [](const CaseChange& change) { return change.work_differences.empty(); };
  return machine_differences.empty() && std::ranges::all_of(cases, is_same);
}

Trend Comparison::trend() const {
  Trend gravest = Trend::same;
  for (const CaseChange& change : cases) gravest = std::max(gravest, change.trend);
  return gravest;
}

Comparison compare(const std::vector<Results>& old_results, const std::vector<Results>& new_results,
                   const std::vector<Varied>& may_vary) {
  const std::vector<Repeats> old_cases = repeats_of(old_results);
  const std::vector<Repeats> new_cases = repeats_of(new_results);
  Comparison comparison;
  bool have_one_in_common = false;
  for (const Repeats& old_case : old_cases) {
    const Repeats* const new_case = find_repeats(new_cases, old_case.suite, old_case.name);
    if (new_case == nullptr) {
      comparison.cases.push_back({.suite = old_case.suite,
                                  .name = old_case.name,
                                  .trend = Trend::worse,
                                  .old_status = old_case.status()});
      continue;
    }
    have_one_in_common = true;
    const auto machines = differences_of_machines(old_case, *new_case, may_vary);
    add_once(machines.others, comparison.machine_differences);
    add_once(machines.varied, comparison.varied);
    comparison.cases.push_back(compare_case(old_case, *new_case));
    comparison.cases.back().work_differences = work_differences(old_case, *new_case);
  }
  if (!have_one_in_common) throw ResultsError("the results have no case in common");
  for (const Repeats& new_case : new_cases) {
    if (find_repeats(old_cases, new_case.suite, new_case.name) != nullptr) continue;
    comparison.cases.push_back(
        {.suite = new_case.suite, .name = new_case.name, .new_status = new_case.status()});
  }
  for (CaseChange& change : comparison.cases) {
    if (!comparison.machine_differences.empty() || !change.work_differences.empty()) {
      withhold_trends(change);
    }
  }
  return comparison;
}

}  // namespace headroom
