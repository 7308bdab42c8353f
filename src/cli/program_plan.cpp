// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_plan.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
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

bool took_memory(const Json& report) {
  return number(report, "peak_device_bytes") > number(report, "context_bytes");
}

/// One process, as it is printed. `has_failed`: the program.
Json describe(const Json& report, bool has_failed) {
  const bool ran_out = ran_out_of_memory(report);
  Json result{{"gpu", report.at("gpu")},
              {"libtorch", report.at("libtorch")},
              {"fits", !(ran_out && has_failed)},
              {"ended_by_itself", report.at("has_ended") != 0},
              {"total_bytes", report.at("total_bytes")},
              {"context_bytes", report.at("context_bytes")},
              {"driver_peak_bytes", report.at("peak_device_bytes")}};
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
  return result;
}

std::string bytes(const Json& process, const char* name) {
  return process.contains(name) ? format_bytes(process[name].get<std::int64_t>()) : "not known";
}

/// What else is to be said of a process, a line each.
std::string notes_on(const Json& process) {
  std::string text;
  if (process.contains("refused_bytes")) {
    text += "out of memory: " + bytes(process, "refused_bytes") + " more were wanted, " +
            bytes(process, "free_when_refused_bytes") + " were free" +
            (process.at("fits") ? "; the program went on\n" : "\n");
  }
  if (process.contains("latest_peak_allocated_bytes") &&
      process.at("latest_peak_allocated_bytes") != process.at("peak_allocated_bytes")) {
    text += "the program began PyTorch's peaks anew; since then PyTorch counts " +
            bytes(process, "latest_peak_allocated_bytes") + " allocated, " +
            bytes(process, "latest_peak_reserved_bytes") + " reserved\n";
  }
  if (!process.at("ended_by_itself")) {
    text += "a process was ended by a signal, _exit() or exec: what it took up to there\n";
  }
  if (process.at("reserved_depends_on_host")) {
    text +=
        "reserved depends on how far the host runs ahead of the GPU: "
        "HEADROOM_DRY_RUN_HOST_NS=slow and =0 give its two bounds\n";
  }
  if (const std::int64_t values = number(process, "values_read"); values > 0) {
    text +=
        "values that were read from the device, all of them zeros here: " + std::to_string(values) +
        ". Where they steer the program, this is that path's plan\n";
  }
  return text;
}

std::string format_processes(const std::vector<Json>& processes) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& process : processes) {
    lines.push_back({process.at("gpu").get<std::string>(), process.at("fits") ? "yes" : "no",
                     bytes(process, "peak_allocated_bytes"), bytes(process, "peak_reserved_bytes"),
                     bytes(process, "driver_peak_bytes"), bytes(process, "total_bytes"),
                     bytes(process, "peak_pinned_bytes")});
  }
  std::string text =
      format_table({"gpu", "fits", "allocated", "reserved", "driver", "of", "pinned"}, lines,
                   {"allocated", "reserved", "driver", "of", "pinned"});
  for (const Json& process : processes) text += notes_on(process);
  return text;
}

void check_followed(const DryProgram& program, const std::string& name) {
  std::string missing;
  for (const Json& report : program.reports.whole) {
    const auto functions = report.at("not_modelled").get<std::string>();
    if (!functions.empty()) missing += (missing.empty() ? "" : ", ") + functions;
  }
  if (!missing.empty()) {
    throw Unsupported(name + ": a dry run can't follow it: it called " + missing +
                      ", which is not modelled (docs/planning.md)");
  }
  if (program.reports.damaged > 0) {
    throw ConfigError(name + ": " + std::to_string(program.reports.damaged) +
                      " of its processes left a damaged report");
  }
  if (program.exit == ExitStatus{} && program.reports.whole.empty()) {
    throw ConfigError(name +
                      ": it used no CUDA device, so there is nothing to plan: is it a "
                      "program of PyTorch that trains on device 'cuda'?");
  }
}

std::string how_it_ended(const ExitStatus& exit) {
  if (exit.signal == 0) return "exit status " + std::to_string(exit.code);
  return std::string("signal ") + strsignal(exit.signal);
}

int exit_code(const DryProgram& program, bool fits) {
  if (program.passed_on != 0) return exit_code_of({0, program.passed_on});
  if (program.exit == ExitStatus{}) return 0;
  if (exit_code_of(program.exit) == kInterrupted) return kInterrupted;
  return fits ? kFailed : kDoesNotFit;
}

}  // namespace

int report_program(const DryProgram& program, const std::string& name, bool json) {
  check_followed(program, name);
  const bool has_failed = program.exit != ExitStatus{};
  std::vector<Json> processes;
  for (const Json& report : program.reports.whole) {
    // Compilers and loaders of a program ask what device there is, and take nothing of it.
    const bool is_shown = took_memory(report) || program.reports.whole.size() == 1;
    if (is_shown) processes.push_back(describe(report, has_failed));
  }
  const bool fits = std::all_of(processes.begin(), processes.end(),
                                [](const Json& process) { return process.at("fits") == true; });
  if (json) {
    print(json_text({{"exit_status", exit_code_of(program.exit)},
                     {"partial", has_failed},
                     {"fits", fits},
                     {"processes", processes}}));
  } else if (!processes.empty()) {
    print(format_processes(processes));
    if (has_failed) print("partial: as far as the program came\n");
  }
  if (has_failed) say(name + ": ended with " + how_it_ended(program.exit));
  return exit_code(program, fits);
}

}  // namespace headroom
