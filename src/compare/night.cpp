// SPDX-License-Identifier: Apache-2.0
#include "src/compare/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "src/compare/comparison_text.h"
#include "src/core/checksum.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/results/row.h"
#include "src/results/statistics.h"
#include "src/suite/catalog.h"

namespace headroom {

// The light of a step's time.
namespace {

constexpr double kRerunP = 0.01;

/// By how many percent the new time is the longer one.
double percent_longer(const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
  return 100 * (fastest_ratio(old_ns, new_ns) - 1);
}

bool has_too_few(const TimeEvidence& evidence) {
  return std::min(evidence.old_ns.size(), evidence.new_ns.size()) < kLeastProcesses;
}

bool is_suspect(const TimeEvidence& evidence) {
  return has_too_few(evidence) ||
         percent_longer(evidence.old_ns, evidence.new_ns) > evidence.percent / 2;
}

Light light_of_rerun(const TimeEvidence& evidence) {
  const std::vector<double>& old_ns = evidence.rerun_old_ns;
  const std::vector<double>& new_ns = evidence.rerun_new_ns;
  if (old_ns.empty() || new_ns.empty()) return Light::yellow;
  const double percent = percent_longer(old_ns, new_ns);
  if (percent <= evidence.percent / 2) return Light::green;
  const bool is_sure = precedence_p(old_ns, new_ns) <= kRerunP;
  return is_sure && percent > evidence.percent ? Light::red : Light::yellow;
}

}  // namespace

double fastest_ratio(const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
  return *std::ranges::min_element(new_ns) / *std::ranges::min_element(old_ns);
}

bool needs_rerun(const TimeEvidence& evidence) {
  return is_suspect(evidence) && light_of_rerun(evidence) == Light::yellow;
}

Light time_light(const TimeEvidence& evidence) {
  if (!is_suspect(evidence)) return Light::green;
  const Light light = light_of_rerun(evidence);
  const bool turns_red = light == Light::yellow && evidence.yellow_nights + 1 >= kYellowNights;
  return turns_red ? Light::red : light;
}

// The lights of a night.
namespace {

constexpr std::string_view kTime = column::step_time_min_ns;

/// A night's results by case, and its history.
class Judge {
 public:
  Judge(const NightlyResults& results, const History& history, const std::vector<Varied>& may_vary)
      : old_(repeats_of(results.old_results)),
        new_(repeats_of(results.new_results)),
        rerun_old_(repeats_of(results.rerun_old)),
        rerun_new_(repeats_of(results.rerun_new)),
        journals_(results.journals()),
        history_(history),
        may_vary_(may_vary) {}

  /// What is known of its time; nothing where a side has none.
  std::optional<TimeEvidence> evidence(const NightlyCase& nightly) const {
    TimeEvidence evidence{.old_ns = times(old_, nightly), .new_ns = times(new_, nightly)};
    if (evidence.old_ns.empty() || evidence.new_ns.empty()) return std::nullopt;
    evidence.yellow_nights = history_.yellow_nights(nightly, journals_);
    evidence.percent =
        find_repeats(new_, nightly.suite, nightly.name)->runs.front()->limit(kGateTimePercent);
    evidence.rerun_old_ns = times(rerun_old_, nightly);
    evidence.rerun_new_ns = times(rerun_new_, nightly);
    return evidence;
  }

  /// The case, not judged yet.
  NightlyCase nightly_case(const CaseChange& change) const {
    NightlyCase nightly{.suite = change.suite, .name = change.name, .machine = ""};
    const Repeats* const repeats = find_repeats(new_, nightly.suite, nightly.name);
    if (repeats != nullptr && !repeats->runs.empty())
      nightly.machine = machine_of(*repeats->runs[0], may_vary_);
    return nightly;
  }

  NightlyCase judge(const CaseChange& change) const {
    NightlyCase nightly = nightly_case(change);
    judge_exact(change, nightly);
    const auto time = evidence(nightly);
    if (!time) return nightly;
    nightly.ratio = fastest_ratio(time->old_ns, time->new_ns);
    const Light light = time_light(*time);
    if (light != Light::green) add_reason(time_reason(*time), nightly);
    nightly.light = std::max(nightly.light, light);
    return nightly;
  }

 private:
  static std::vector<double> times(const std::vector<Repeats>& list, const NightlyCase& nightly) {
    const Repeats* const repeats = find_repeats(list, nightly.suite, nightly.name);
    return repeats == nullptr ? std::vector<double>() : repeats->times(kTime);
  }

  static void add_reason(const std::string& reason, NightlyCase& nightly) {
    nightly.reason = join_reasons(nightly.reason, reason);
  }

  static Light light_of(Trend trend) {
    if (trend == Trend::worse) return Light::red;
    return trend == Trend::unclear ? Light::yellow : Light::green;
  }

  /// Judges all but the time.
  static void judge_exact(const CaseChange& change, NightlyCase& nightly) {
    if (change.old_status != change.new_status) {
      nightly.light = light_of(change.trend);
      if (nightly.light != Light::green) add_reason(status_text(change), nightly);
      return;
    }
    // Nothing got worse, and there is nothing to compare either.
    if (change.new_status != enum_name(Status::ok)) {
      add_reason(change.new_status + " on both sides", nightly);
    }
    for (const FigureChange& figure : change.figures) {
      if (figure.ratio) continue;  // a time
      const Light light = light_of(figure.trend);
      if (light != Light::green) add_reason(figure.column + " " + change_text(figure), nightly);
      nightly.light = std::max(nightly.light, light);
    }
  }

  static std::string time_reason(const TimeEvidence& time) {
    std::string text =
        fmt::format("a step takes {:+.1f} %", percent_longer(time.old_ns, time.new_ns));
    if (has_too_few(time)) {
      text += fmt::format(" by {} and {} processes, fewer than {}", time.old_ns.size(),
                          time.new_ns.size(), kLeastProcesses);
    }
    if (time.rerun_old_ns.empty() || time.rerun_new_ns.empty()) return text + ", no rerun";
    const double rerun = percent_longer(time.rerun_old_ns, time.rerun_new_ns);
    return text + fmt::format(", {:+.1f} % in a rerun of {} and {} processes", rerun,
                              time.rerun_old_ns.size(), time.rerun_new_ns.size());
  }

  std::vector<Repeats> old_;
  std::vector<Repeats> new_;
  std::vector<Repeats> rerun_old_;
  std::vector<Repeats> rerun_new_;
  std::string journals_;
  const History& history_;
  const std::vector<Varied>& may_vary_;
};

}  // namespace

std::string NightlyResults::journals() const {
  std::string text;
  for (const auto* side : {&old_results, &new_results}) {
    for (const Results& results : *side) text += results.fingerprint + " ";
    text += "\n";
  }
  return fingerprint(text);
}

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
  for (const NightlyCase& nightly : cases) gravest = std::max(gravest, nightly.light);
  return gravest;
}

Night judge_night(const NightlyResults& results, const History& history,
                  const std::vector<Varied>& may_vary) {
  Night night{.comparison = compare(results.old_results, results.new_results, may_vary),
              .cases = {}};
  if (!night.comparison.is_of_the_same()) {
    throw ResultsError(
        "old and new are not of the same machine and work; `headroom compare` lists "
        "what differs");
  }
  const Judge judge(results, history, may_vary);
  for (const CaseChange& change : night.comparison.cases) {
    night.cases.push_back(judge.judge(change));
  }
  return night;
}

std::vector<NightlyCase> suspects(const NightlyResults& results, const History& history,
                                  const std::vector<Varied>& may_vary) {
  const Judge judge(results, history, may_vary);
  std::vector<NightlyCase> list;
  const Comparison changes = compare(results.old_results, results.new_results, may_vary);
  for (const CaseChange& change : changes.cases) {
    const NightlyCase nightly = judge.nightly_case(change);
    const auto evidence = judge.evidence(nightly);
    if (evidence && needs_rerun(*evidence)) list.push_back(nightly);
  }
  return list;
}

}  // namespace headroom
