// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/arguments.h"
#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/suite_runs.h"
#include "src/cli/summary.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/runner/dry_run.h"
#include "src/runner/environment_check.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t number(const Json& report, const char* name) {
  return report.value(name, std::int64_t{0});
}

bool ran_out_of_memory(const Json& report) { return number(report, "out_of_memory_errors") > 0; }

/// One process, as it is printed.
Json describe(const Json& report) {
  Json result{{"gpu", report.at("gpu")},
              {"libtorch", report.at("libtorch")},
              {"fits", !ran_out_of_memory(report)},
              {"total_bytes", report.at("total_bytes")},
              {"context_bytes", report.at("context_bytes")},
              {"driver_peak_bytes", report.at("peak_device_bytes")}};
  // What PyTorch's allocator counted is known for the LibTorch that this headroom was built with.
  for (const char* name : {"peak_allocated_bytes", "peak_reserved_bytes"}) {
    if (report.contains(name)) result[name] = report[name];
  }
  for (const char* name : {"peak_pinned_bytes", "to_device_bytes", "to_host_bytes",
                           "collective_bytes", "launches", "product_flops"}) {
    result[name] = report.at(name);
  }
  if (ran_out_of_memory(report)) {
    result["refused_bytes"] = report.at("refused_bytes");
    result["free_when_refused_bytes"] = report.at("free_when_refused_bytes");
  }
  result["reserved_depends_on_host"] = report.at("undecided_questions") != 0;
  return result;
}

std::string bytes(const Json& process, const char* name) {
  return process.contains(name) ? format_bytes(process[name].get<std::int64_t>()) : "not known";
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
  for (const Json& process : processes) {
    if (!process.at("fits")) {
      text += "out of memory: " + bytes(process, "refused_bytes") + " more were wanted, " +
              bytes(process, "free_when_refused_bytes") + " were free\n";
    }
    if (process.at("reserved_depends_on_host")) {
      text +=
          "reserved depends on how far the host runs ahead of the GPU: "
          "HEADROOM_DRY_RUN_HOST_NS=slow and =0 give its two bounds\n";
    }
  }
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
  if (program.exit != ExitStatus{}) return;
  if (program.reports.missing > 0) {
    throw ConfigError(name + ": " + std::to_string(program.reports.missing) +
                      " of its processes used the CUDA device and left no report of it: a process "
                      "has to end by itself, not by a signal, os._exit() or exec, and TMPDIR has "
                      "to have room for its report");
  }
  if (program.reports.whole.empty()) {
    throw ConfigError(name +
                      ": it used no CUDA device, so there is nothing to plan: is it a "
                      "program of PyTorch that trains on device 'cuda'?");
  }
}

/// Prints what a program that ran dry took, or would have taken when it ran out of memory. Gives
/// the exit code: 0, also where memory ran out, which is a result; 1 where the program failed; 128
/// and the signal that was passed on to it. Throws ConfigError where it used no CUDA or left no
/// report, Unsupported where it did what a dry run can't follow.
int report_program(const DryProgram& program, const std::string& name, bool json) {
  if (program.passed_on != 0) return exit_code_of({0, program.passed_on});
  check_followed(program, name);
  const std::vector<Json>& reports = program.reports.whole;
  std::vector<Json> processes;
  for (const Json& report : reports) {
    const bool has_memory = number(report, "peak_device_bytes") > number(report, "context_bytes");
    // Compilers and loaders of a program ask what device there is, and take nothing of it.
    if (has_memory || reports.size() == 1) processes.push_back(describe(report));
  }
  const bool fits = std::none_of(reports.begin(), reports.end(), &ran_out_of_memory);
  const int status = exit_code_of(program.exit);
  if (json) {
    print(json_text({{"exit_status", status}, {"fits", fits}, {"processes", processes}}));
  } else if (!processes.empty()) {
    print(format_processes(processes));
  }
  if (status == 0 || !fits) return 0;
  say(name + fmt::format(": ended with exit status {}", status));
  return kFailed;
}

constexpr const char* kPlanFolder = "out/plan";

struct PlanOptions {
  SuiteArguments cases;
  DryRunArguments dry_run;
};

int plan(const CommandLine& line, const PlanOptions& options) {
  const bool has_suites = !options.cases.suites.empty();
  if (has_suites == !line.program.empty()) {
    throw ConfigError("plan: give suite files, or, behind --, a program to run dry");
  }
  const Catalog catalog = line.catalog();
  if (!has_suites) {
    return run_dry(line.program, make_dry_run(catalog, options.dry_run),
                   [&](const DryProgram& program) {
                     return report_program(program, line.program[0], options.cases.json);
                   });
  }
  check_environment(environment_variables(), false);
  const auto options_of = [&](const Suite& suite) {
    SuiteRunOptions run;
    run.worker = worker_path();
    run.device = "cuda";
    run.measures = false;
    run.dry_run = make_dry_run(catalog, options.dry_run, suite.gpu);
    return run;
  };
  return run_suites(catalog, options.cases, kPlanFolder, options_of, &format_plan);
}

}  // namespace

void add_plan(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "plan",
      "What cases, or any CUDA program of PyTorch (plan -- PROGRAM ...), take, with no GPU");
  const auto options = std::make_shared<PlanOptions>();
  options->cases.add_to(*command, kPlanFolder);
  options->dry_run.add_to(*command);
  command->callback(
      [&line, options] { line.action = [&line, options] { return plan(line, *options); }; });
}

}  // namespace headroom
