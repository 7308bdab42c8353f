// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/report/html.h"
#include "src/results/results.h"

// The sections of the report of one results folder, and the values that they show. Each section is
// empty where the folder has nothing for it.
namespace headroom {

/// A case among those that it is compared with. Null: there is none.
struct CaseLine {
  const CaseResult* result = nullptr;
  std::size_t number = 0;              // in the report, from 1
  const CaseResult* before = nullptr;  // the nearest case above with a peak
  /// The case with no technique and the same fields otherwise; where the suite has none, the
  /// nearest above with no technique. Of a case with no technique itself: none.
  const CaseResult* plain = nullptr;

  const Row& row() const { return result->row; }
};

/// Cases of one model on as many ranks, in the suite's order.
struct CaseGroup {
  std::string title;  // "vit_l_16 on 4 ranks"
  std::vector<CaseLine> lines;
};

/// All cases, which must outlive the groups. Groups stand in the order of their first cases.
std::vector<CaseGroup> group_cases(const std::vector<CaseResult>& cases);

/// The memory of a row that the report shows: run_peak_allocated_bytes.
std::optional<double> peak_of(const Row& row);

/// A section of figures, one of each for each group; empty where all of them are.
Html figures_section(const std::string& title, const std::string& note,
                     const std::vector<CaseGroup>& groups, Html (*figure)(const CaseGroup&));

/// Memory and time of each case, with percent of the case before and of the plain one; the reason
/// of a case that did not end as ok. In stack_section.cpp.
Html stack_section(const Results& results, const std::vector<CaseGroup>& groups);

/// What the peak of each case is made of: a bar a case, a colour and a pattern a category, with the
/// exact bytes as a table below. In peak_sections.cpp.
Html peak_section(const std::vector<CaseGroup>& groups);

/// What holds the peak of a program that was planned with --explain: kind, bytes and line. In
/// holders_section.cpp.
Html holders_section(const std::vector<CaseGroup>& groups);

/// The peak of each rank, of cases that several processes trained. In peak_sections.cpp.
Html ranks_section(const Results& results);

// Published, planned and measured: sources_section.cpp.

/// One figure of a case, by where it comes from. Errors are in percent, signed.
struct FigureSources {
  std::string figure;               // the column's name: run_peak_reserved_bytes
  std::optional<double> rule = {};  // a rule of thumb's
  std::optional<double> published = {};
  std::optional<double> planned = {};
  std::optional<double> measured = {};
  std::optional<double> planned_error = {};      // against the published figure
  std::optional<double> measured_error = {};     // likewise
  std::optional<double> measured_off_plan = {};  // against the planned figure
};

/// The figures of a case that were published, or that were planned beside a measurement, or that a
/// rule of thumb gives; `plan`, which may be null, is a plan of a measured case that stands in
/// another folder.
std::vector<FigureSources> figure_sources(const CaseResult& result, const CaseResult* plan);

/// The plan of the same case of the same suite for the GPU that it was measured on; null: none of
/// them is one.
const CaseResult* find_plan(const Results& results, const CaseResult& result,
                            const std::vector<Results>& all);

/// What was published, planned and measured, with signed errors. A plan of a measured case for the
/// same GPU out of `all` stands beside it, where the run made none itself.
Html figure_sources_section(const Results& results, const std::vector<Results>& all);

/// Steps beside an update of the published run, where the suite has its time. In
/// run_time_section.cpp.
Html run_time_section(const Results& results);

// Memory over a step: timeline_section.cpp.

/// The most that was live at a place of a step.
struct TimelinePlace {
  std::string phase;
  std::optional<std::int64_t> block;
  double bytes = 0;
};

/// Memory over a step, in the order of time.
using MemoryTimeline = std::vector<TimelinePlace>;

/// Reads a record's `step_memory`; empty where it has none, or what it has is of another form.
MemoryTimeline read_memory_timeline(const nlohmann::ordered_json& record);

/// The timeline of each case, all of a group on the same scale, with the peak marked.
Html timeline_section(const std::vector<CaseGroup>& groups);

// Memory against time: tradeoff_section.cpp.

/// Samples a second. Measured, the three are one figure.
struct Speed {
  double likely = 0;
  double least = 0;
  double most = 0;

  bool is_estimate() const { return least < most; }
};

/// A case between memory and time.
struct Tradeoff {
  const CaseLine* line = nullptr;
  Speed speed;
  double peak_bytes = 0;
  bool is_best = false;  // no other case is better in memory or speed, and as good in the other
};

/// The cases of a group that have both, fastest first; of a plan by its estimates.
std::vector<Tradeoff> tradeoffs_of(const CaseGroup& group);

/// Peak memory against samples per second: a point a case, with its number and a plan's interval,
/// and the names of those that no other case beats in both. Groups with fewer than two such cases
/// have no figure.
Html tradeoff_section(const std::vector<CaseGroup>& groups);

// How the run went: sections.cpp.

/// Why cases did not end as ok, and which are not done.
Html missing_section(const Results& results);

/// The versions and machines that the rows name.
Html environment_section(const Results& results);

/// The call of a shell that makes the row again, out of the suite that lies beside the results.
/// `--gpu-memory` of a plan is not kept with the results, so it is not in the call.
std::string rerun_command(const Results& results, const CaseResult& result);

/// The call that makes each row again.
Html commands_section(const Results& results, const std::vector<CaseGroup>& groups);

}  // namespace headroom
