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
#include "src/cli/reserved_text.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/programs/program_report.h"
#include "src/results/results_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const DryRun& extreme) {
  if (extreme.tried_engines == DryRun::TriedEngines::fastest) {
    return "where it keeps other engines of cuDNN than those ranked first";
  }
  switch (extreme.layout_copies) {
    case DryRun::LayoutCopies::forward:
      return "where convolutions work on copies of their tensors";
    case DryRun::LayoutCopies::backward:
      return "where gradients of convolutions work on copies of their tensors";
    case DryRun::LayoutCopies::none:
      break;
  }
  return extreme.host == DryRun::Host::ahead ? "with a host as far ahead of the GPU as can be"
                                             : "with a host that waits for the GPU each time";
}

/// Those extremes with which it did not end well, a line each.
std::string failed_extremes(const DryProgram& program) {
  std::string lines;
  for (const DryProgram::Extreme& extreme : program.bounds) {
    if (!extreme.is_good) lines += name_of(extreme.dry_run) + " it does not end well\n";
  }
  return lines;
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
      if (process.contains("reserved_peak")) {
        tables += format_reserved(process["reserved_peak"], label);
      }
    }
  }
  return tables;
}

/// As make_report(); where the program can't be followed, that is kept too.
ProgramReport report_of(const DryProgram& program, const std::string& name, KeptProgram* kept) {
  try {
    return make_report(program, name);
  } catch (const Unsupported& unsupported) {
    if (kept != nullptr) kept->keep_unsupported(unsupported.what());
    throw;
  }
}

int exit_code(const DryProgram& program, bool fits) {
  if (program.end.passed_on != 0) return exit_code_of({0, program.end.passed_on});
  if (program.end.exit == ExitStatus{}) return 0;
  if (exit_code_of(program.end.exit) == kInterrupted) return kInterrupted;
  return fits ? kFailed : kDoesNotFit;
}

}  // namespace

int report_program(const DryProgram& program, const std::string& name, const PlanForms& forms,
                   KeptProgram* kept) {
  const ProgramReport report = report_of(program, name, kept);
  const auto& processes = report.processes;
  if (forms.json) {
    print(json_text({{"exit_status", exit_code_of(program.end.exit)},
                     {"partial", report.has_failed || program.end.was_cut},
                     {"fits", report.fits},
                     {"processes", processes}}));
  } else if (!processes.empty()) {
    print(format_processes(processes) + failed_extremes(program));
    if (forms.explains) print(holders_of(processes));
    if (report.has_failed) print("partial: as far as the program came\n");
    if (program.end.was_cut) print("partial: as far as the program came in the time of --for\n");
  }
  const std::string how = report.has_failed ? "ended with " + how_it_ended(program.end.exit) : "";
  if (kept != nullptr) {
    kept->keep(report, how);
    if (!forms.json) print((kept->folder() / kResultsFile).string() + "\n");
  }
  if (report.has_failed) say(name + ": " + how);
  return exit_code(program, report.fits);
}

}  // namespace headroom
