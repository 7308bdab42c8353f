// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_plan.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/cli/command_line.h"
#include "src/cli/holder_table.h"
#include "src/cli/output.h"
#include "src/cli/process_table.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t number(const Json& report, const char* name) {
  return report.value(name, std::int64_t{0});
}

/// PyTorch's allocator tries again where it was refused; where it can't be asked, its first try
/// counts.
bool ran_out_of_memory(const Json& report) {
  return number(report, report.contains("out_of_memory_errors") ? "out_of_memory_errors"
                                                                : "refused_bytes") > 0;
}

/// Compilers and loaders of a program ask what device there is, and take nothing of it.
bool asked_for_memory(const Json& report) {
  return number(report, "peak_device_bytes") > number(report, "context_bytes") ||
         number(report, "refused_bytes") > 0;
}

/// A device of a process, as it is printed. `has_failed`: the program.
Json describe(const Json& report, bool has_failed) {
  const bool ran_out = ran_out_of_memory(report);
  Json result{{"process", report.at("process")}, {"device", report.at("device")}};
  for (const char* name : {"rank", "ranks", "stage", "stages"}) {
    if (report.contains(name)) result[name] = report[name];
  }
  result.update({{"gpu", report.at("gpu")},
                 {"libtorch", report.at("libtorch")},
                 {"fits", !(ran_out && has_failed)},
                 {"ended_by_itself", report.at("has_ended") != 0},
                 {"total_bytes", report.at("total_bytes")},
                 {"context_bytes", report.at("context_bytes")},
                 {"driver_peak_bytes", report.at("peak_device_bytes")}});
  // The latest peaks are known for the LibTorch that this headroom was built with.
  for (const char* name : {"peak_allocated_bytes", "peak_reserved_bytes",
                           "latest_peak_allocated_bytes", "latest_peak_reserved_bytes"}) {
    if (report.contains(name)) result[name] = report[name];
  }
  for (const char* name : {"peak_pinned_bytes", "to_device_bytes", "to_host_bytes", "values_read",
                           "collective_bytes", "launches", "product_flops"}) {
    result[name] = report.at(name);
  }
  if (ran_out) {
    result["refused_bytes"] = report.at("refused_bytes");
    result["free_when_refused_bytes"] = report.at("free_when_refused_bytes");
  }
  result["reserved_depends_on_host"] = report.at("undecided_questions") != 0;
  if (report.contains("holders")) result["holders"] = report["holders"];
  return result;
}

/// Adds the bounds of what the process `index` reserves, where it is known what it reserves with
/// both extremes of the host's pace.
void add_bounds(Json& process, const DryProgram& program, std::size_t index) {
  constexpr const char* kReserved = "peak_reserved_bytes";
  if (program.bounds.empty() || !process.contains(kReserved)) return;
  std::vector<std::int64_t> seen{process[kReserved].get<std::int64_t>()};
  for (const DryProgram::Extreme& extreme : program.bounds) {
    const auto& whole = extreme.reports.whole;
    const bool is_same = extreme.is_good && whole.size() == program.reports.whole.size();
    if (!is_same || !whole[index].contains(kReserved)) return;
    seen.push_back(number(whole[index], kReserved));
  }
  const auto [lower, upper] = std::minmax_element(seen.begin(), seen.end());
  process["peak_reserved_lower_bytes"] = *lower;
  process["peak_reserved_upper_bytes"] = *upper;
}

/// Those extremes of the host's pace with which it did not end well, a line each.
std::string failed_extremes(const DryProgram& program) {
  std::string lines;
  for (const DryProgram::Extreme& extreme : program.bounds) {
    if (extreme.is_good) continue;
    const char* host = extreme.host == DryRun::Host::ahead ? "as far ahead of the GPU as can be"
                                                           : "that waits for the GPU each time";
    lines += std::string("with a host ") + host + " it does not end well\n";
  }
  return lines;
}

/// The functions that any of the processes called in vain, joined by ", ".
std::string not_modelled(const DryReports& reports) {
  std::vector<std::string> lists;
  for (const Json& report : reports.whole) {
    const auto functions = report.at("not_modelled").get<std::string>();
    const bool is_new = std::find(lists.begin(), lists.end(), functions) == lists.end();
    if (!functions.empty() && is_new) lists.push_back(functions);
  }
  std::string all;
  for (const std::string& functions : lists) all += (all.empty() ? "" : ", ") + functions;
  return all;
}

void check_followed(const DryProgram& program, const std::string& name) {
  if (!program.end.why_stuck.empty()) {
    throw Unsupported(name + ": a dry run can't follow it: " + program.end.why_stuck +
                      " (docs/programs.md)");
  }
  const std::string missing = not_modelled(program.reports);
  if (!missing.empty()) {
    throw Unsupported(name + ": a dry run can't follow it: it called " + missing +
                      ", which is not modelled (docs/programs.md)");
  }
  if (program.reports.damaged > 0) {
    throw ConfigError(name + ": " + std::to_string(program.reports.damaged) +
                      " of its processes left a damaged report");
  }
  if (program.end.exit == ExitStatus{} && program.reports.whole.empty()) {
    throw ConfigError(name +
                      ": it used no CUDA device, so there is nothing to plan: is it a "
                      "program of PyTorch that trains on device 'cuda'?");
  }
}

std::string how_it_ended(const ExitStatus& exit) {
  if (exit.signal == 0) return "exit status " + std::to_string(exit.code);
  return std::string("signal ") + strsignal(exit.signal);
}

/// Of those of several that are alike, the first stands for all.
std::string holders_of(const std::vector<Json>& processes) {
  std::string tables;
  std::vector<Json> shown;
  for (const Json& process : processes) {
    const std::string label = processes.size() > 1 ? label_of(process) : "";
    if (!process.contains("holders")) {
      tables += "what holds the peak" + (label.empty() ? "" : " of " + label) +
                " is not known: the program did not end by itself, or records its memory's history "
                "for itself\n";
    } else if (std::find(shown.begin(), shown.end(), process["holders"]) == shown.end()) {
      shown.push_back(process["holders"]);
      tables += format_holders(process["holders"], label);
    }
  }
  return tables;
}

int exit_code(const DryProgram& program, bool fits) {
  if (program.end.passed_on != 0) return exit_code_of({0, program.end.passed_on});
  if (program.end.exit == ExitStatus{}) return 0;
  if (exit_code_of(program.end.exit) == kInterrupted) return kInterrupted;
  return fits ? kFailed : kDoesNotFit;
}

}  // namespace

int report_program(const DryProgram& program, const std::string& name, const PlanForms& forms) {
  check_followed(program, name);
  const bool has_failed = program.end.exit != ExitStatus{};
  std::vector<Json> processes;
  for (std::size_t i = 0; i < program.reports.whole.size(); ++i) {
    const Json& report = program.reports.whole[i];
    if (!asked_for_memory(report) && program.reports.whole.size() > 1) continue;
    processes.push_back(describe(report, has_failed));
    add_bounds(processes.back(), program, i);
  }
  const bool fits = std::all_of(processes.begin(), processes.end(),
                                [](const Json& process) { return process.at("fits") == true; });
  if (forms.json) {
    print(json_text({{"exit_status", exit_code_of(program.end.exit)},
                     {"partial", has_failed},
                     {"fits", fits},
                     {"processes", processes}}));
  } else if (!processes.empty()) {
    print(format_processes(processes) + failed_extremes(program));
    if (forms.explains) print(holders_of(processes));
    if (has_failed) print("partial: as far as the program came\n");
  }
  if (has_failed) say(name + ": ended with " + how_it_ended(program.end.exit));
  return exit_code(program, fits);
}

}  // namespace headroom
