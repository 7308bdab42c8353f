// SPDX-License-Identifier: Apache-2.0
#include "src/programs/program_report.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/runner/extremes.h"
#include "src/runner/step_time.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAllocated = "peak_allocated_bytes";
constexpr const char* kReserved = "peak_reserved_bytes";

std::int64_t number(const Json& report, const char* name) {
  return report.value(name, std::int64_t{0});
}

/// Compilers and loaders of a program ask what device there is, and take nothing of it.
bool asked_for_memory(const Json& report) {
  return number(report, "peak_device_bytes") > number(report, "context_bytes") ||
         number(report, "refused_bytes") > 0;
}

/// The members of `report` of these names that it has.
void add_known(Json& process, const Json& report, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (report.contains(name)) process[name] = report[name];
  }
}

/// Of others' trainings that were planned to leave less to PyTorch's tensors, of what there is
/// beside the context, two thirds ran out of memory (docs/atlas.md).
constexpr double kCloseShare = 0.04;

bool fits_closely(const Json& process) {
  if (process.at("fits") != true || !process.contains(kAllocated)) return false;
  const std::int64_t room = number(process, "total_bytes") - number(process, "context_bytes");
  return static_cast<double>(number(process, kAllocated)) >
         (1 - kCloseShare) * static_cast<double>(room);
}

/// A device of a process. `has_failed`: the program.
Json describe(const Json& report, bool has_failed) {
  const bool ran_out = ran_out_of_memory(report);
  Json process{{"process", report.at("process")}, {"device", report.at("device")}};
  add_known(process, report, {"rank", "ranks", "stage", "stages"});
  process.update({{"gpu", report.at("gpu")},
                  {"libtorch", report.at("libtorch")},
                  {"fits", !(ran_out && has_failed)},
                  {"ended_by_itself", report.at("has_ended") != 0},
                  {"total_bytes", report.at("total_bytes")},
                  {"context_bytes", report.at("context_bytes")},
                  {"driver_peak_bytes", report.at("peak_device_bytes")}});
  // The latest peaks of another LibTorch are known where the program began them anew.
  add_known(process, report,
            {kAllocated, kReserved, "latest_peak_allocated_bytes", "latest_peak_reserved_bytes",
             "peak_pinned_bytes", "to_device_bytes", "to_host_bytes", "values_read",
             "collective_bytes", "launches", "launches_when_grown", "product_flops"});
  if (fits_closely(process)) process["fits_closely"] = true;
  if (const auto step = step_time_of(report)) {
    process["timed_steps"] = report.at("timed_steps");
    add_step_time(process, *step);
    add_known(process, report,
              {"steps_product_ns", "steps_attention_ns", "steps_memory_ns", "steps_host_link_ns",
               "steps_peer_link_ns"});
  }
  if (ran_out) add_known(process, report, {"refused_bytes", "free_when_refused_bytes"});
  if (number(report, "peak_managed_bytes") > 0) add_known(process, report, {"peak_managed_bytes"});
  if (number(report, "attention_kernels") > 0) add_known(process, report, {"attention_kernels"});
  if (number(report, "nccl_bytes") > 0) add_known(process, report, {"nccl_bytes"});
  if (report.at("estimated") != "") process["estimated"] = report.at("estimated");
  process["reserved_depends_on_host"] = depends_on_host(report);
  process["reserved_depends_on_layouts"] = depends_on_layouts(report);
  process["reserved_depends_on_engines"] = depends_on_engines(report);
  add_known(process, report, {"holders", "reserved_peak"});
  return process;
}

/// Adds the bounds of one of its peaks, NAME_bytes, as NAME_lower_bytes and NAME_upper_bytes, where
/// that is known with each extreme.
void add_bounds(Json& process, const DryProgram& program, std::size_t index,
                const std::string& name) {
  const std::string peak = name + "_bytes";
  if (program.bounds.empty() || !process.contains(peak)) return;
  std::vector<std::int64_t> seen{process[peak].get<std::int64_t>()};
  for (const DryProgram::Extreme& extreme : program.bounds) {
    const auto& whole = extreme.reports.whole;
    const bool is_same = extreme.is_good && whole.size() == program.reports.whole.size();
    if (!is_same || !whole[index].contains(peak)) return;
    seen.push_back(number(whole[index], peak.c_str()));
  }
  const auto [lower, upper] = std::minmax_element(seen.begin(), seen.end());
  process[name + "_lower_bytes"] = *lower;
  process[name + "_upper_bytes"] = *upper;
}

/// Adds what the process `index` takes where there is no end of memory, if that is known.
void add_missing(Json& process, const DryProgram& program, std::size_t index) {
  if (!program.without_end) return;
  const auto& whole = program.without_end->whole;
  if (whole.size() != program.reports.whole.size()) return;
  const Json& report = whole[index];
  Json needed{{"driver_peak_bytes", report.at("peak_device_bytes")}};
  add_known(needed, report, {kAllocated, kReserved});
  process["without_end"] = std::move(needed);
  process["missing_bytes"] = std::max(
      std::int64_t{0}, number(report, "peak_device_bytes") - number(report, "total_bytes"));
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

/// What the process that took most did so, for a message.
std::string taken(const DryReports& reports) {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  for (const Json& report : reports.whole) {
    allocated = std::max(allocated, number(report, kAllocated));
    reserved = std::max(reserved, number(report, kReserved));
  }
  return format_bytes(allocated) + " allocated, " + format_bytes(reserved) + " reserved";
}

void check_followed(const DryProgram& program, const std::string& name) {
  if (!program.end.why_stuck.empty()) {
    throw Unsupported(name + ": a dry run can't follow it: " + program.end.why_stuck +
                      " (docs/programs.md)");
  }
  const std::string missing = not_modelled(program.reports);
  if (!missing.empty()) {
    throw Unsupported(name + ": a dry run can't follow it: it called " + missing +
                      ", which is not modelled (docs/programs.md); without that it took at most " +
                      taken(program.reports));
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

}  // namespace

bool takes_less(const Json& process, const Json& other) {
  const auto takes = [](const Json& one) {
    return std::pair(number(one, "driver_peak_bytes"), number(one, "peak_allocated_bytes"));
  };
  return takes(process) < takes(other);
}

const Json& ProgramReport::largest() const {
  return *std::max_element(processes.begin(), processes.end(), &takes_less);
}

ProgramReport make_report(const DryProgram& program, const std::string& name) {
  check_followed(program, name);
  ProgramReport result;
  result.has_failed = program.end.exit != ExitStatus{};
  for (std::size_t i = 0; i < program.reports.whole.size(); ++i) {
    const Json& report = program.reports.whole[i];
    if (!asked_for_memory(report) && program.reports.whole.size() > 1) continue;
    Json process = describe(report, result.has_failed);
    for (const char* peak :
         {"peak_allocated", "peak_reserved", "latest_peak_allocated", "latest_peak_reserved"}) {
      add_bounds(process, program, i, peak);
    }
    add_missing(process, program, i);
    result.fits = result.fits && process.at("fits").get<bool>();
    const bool takes_most = result.processes.empty() || takes_less(result.largest(), process);
    if (takes_most) result.step_memory = report.value("step_memory", Json());
    result.processes.push_back(std::move(process));
  }
  return result;
}

}  // namespace headroom
