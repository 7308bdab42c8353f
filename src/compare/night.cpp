// SPDX-License-Identifier: Apache-2.0
#include "src/compare/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/compare/change_text.h"
#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/suite/gate_fields.h"

namespace headroom {
namespace {

constexpr const char* kTime = "step_time_min_ns";

/// What the history of a case hangs on.
std::string machine_of(const CaseResult& run) {
  std::string text = run.environment.dump();
  for (const char* column : {"device", "device_name", "gpu_uuid", "driver"}) {
    text += " " + text_in(run.row, column);
  }
  return fingerprint(text);
}

/// A night's results by case, and its history.
class Judge {
 public:
  Judge(const NightlyResults& results, const History& history)
      : old_(repeats_of(results.old_results)),
        new_(repeats_of(results.new_results)),
        rerun_old_(repeats_of(results.rerun_old)),
        rerun_new_(repeats_of(results.rerun_new)),
        history_(history) {}

  /// Nothing where the time of a side is not known.
  std::optional<TimeEvidence> evidence(const NightlyCase& one) const {
    TimeEvidence evidence{.old_ns = times(old_, one), .new_ns = times(new_, one)};
    if (evidence.old_ns.empty() || evidence.new_ns.empty()) return std::nullopt;
    evidence.yellow_nights = history_.yellow_nights(one);
    evidence.percent =
        find_repeats(new_, one.suite, one.name)->runs.front()->limit(kGateTimePercent);
    evidence.rerun_old_ns = times(rerun_old_, one);
    evidence.rerun_new_ns = times(rerun_new_, one);
    return evidence;
  }

  NightlyCase name(const CaseChange& change) const {
    NightlyCase one{.suite = change.suite, .name = change.name, .machine = ""};
    const Repeats* const repeats = find_repeats(new_, one.suite, one.name);
    if (repeats != nullptr && !repeats->runs.empty()) one.machine = machine_of(*repeats->runs[0]);
    return one;
  }

  NightlyCase judge(const CaseChange& change) const {
    NightlyCase one = name(change);
    judge_exact(change, one);
    const auto time = evidence(one);
    if (!time) return one;
    one.ratio = fastest_ratio(time->old_ns, time->new_ns);
    const Light light = time_light(*time);
    if (light != Light::green) add_reason(time_reason(*time), one);
    one.light = std::max(one.light, light);
    return one;
  }

 private:
  static std::vector<double> times(const std::vector<Repeats>& list, const NightlyCase& one) {
    const Repeats* const repeats = find_repeats(list, one.suite, one.name);
    return repeats == nullptr ? std::vector<double>() : repeats->values(kTime);
  }

  static void add_reason(const std::string& reason, NightlyCase& one) {
    one.reason += (one.reason.empty() ? "" : "; ") + reason;
  }

  static Light light_of(Trend trend) {
    if (trend == Trend::worse) return Light::red;
    return trend == Trend::unclear ? Light::yellow : Light::green;
  }

  /// All but the time.
  static void judge_exact(const CaseChange& change, NightlyCase& one) {
    if (change.old_status != change.new_status) {
      one.light = light_of(change.trend);
      if (one.light != Light::green) add_reason(status_text(change), one);
      return;
    }
    for (const FigureChange& figure : change.figures) {
      if (figure.ratio) continue;  // a time
      const Light light = light_of(figure.trend);
      if (light != Light::green) add_reason(figure.column + " " + change_text(figure), one);
      one.light = std::max(one.light, light);
    }
  }

  static std::string time_reason(const TimeEvidence& time) {
    const double tonight = 100 * (fastest_ratio(time.old_ns, time.new_ns) - 1);
    std::string text = fmt::format("a step takes {:+.1f} %", tonight);
    if (time.rerun_old_ns.empty()) return text + ", no rerun";
    const double rerun = 100 * (fastest_ratio(time.rerun_old_ns, time.rerun_new_ns) - 1);
    return text + fmt::format(", {:+.1f} % in a rerun of {} and {} processes", rerun,
                              time.rerun_old_ns.size(), time.rerun_new_ns.size());
  }

  std::vector<Repeats> old_;
  std::vector<Repeats> new_;
  std::vector<Repeats> rerun_old_;
  std::vector<Repeats> rerun_new_;
  const History& history_;
};

}  // namespace

NightlyResults read_nightly(const std::string& folder) {
  const std::filesystem::path root(folder);
  NightlyResults results{.old_results = read_all_results(root / "old"),
                         .new_results = read_all_results(root / "new")};
  if (!std::filesystem::exists(root / "rerun")) return results;
  results.rerun_old = read_all_results(root / "rerun/old");
  results.rerun_new = read_all_results(root / "rerun/new");
  return results;
}

Light Night::light() const {
  Light gravest = Light::green;
  for (const NightlyCase& one : cases) gravest = std::max(gravest, one.light);
  return gravest;
}

Night judge_night(const NightlyResults& results, const History& history) {
  Night night{.comparison = compare(results.old_results, results.new_results), .cases = {}};
  if (!night.comparison.is_of_the_same()) {
    throw ResultsError(
        "old and new are not of the same machine and work; `headroom compare` lists "
        "what differs");
  }
  const Judge judge(results, history);
  for (const CaseChange& change : night.comparison.cases) {
    night.cases.push_back(judge.judge(change));
  }
  return night;
}

std::vector<NightlyCase> suspects(const NightlyResults& results, const History& history) {
  const Judge judge(results, history);
  std::vector<NightlyCase> list;
  for (const CaseChange& change : compare(results.old_results, results.new_results).cases) {
    const NightlyCase one = judge.name(change);
    const auto evidence = judge.evidence(one);
    if (evidence && needs_rerun(*evidence)) list.push_back(one);
  }
  return list;
}

}  // namespace headroom
