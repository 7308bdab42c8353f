// SPDX-License-Identifier: Apache-2.0
#include "src/runner/row_of_case.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/gpus/gpu_figures.h"
#include "src/results/columns.h"
#include "src/runner/gpu_json.h"
#include "src/runner/rule_of_thumb.h"
#include "src/workers/this_process.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

bool keeps_figures(const Outcome& outcome) {
  return outcome.verdict.status == Status::ok || outcome.keeps_figures;
}

template <typename Value>
void set_known(Json& columns, std::string_view name, const std::optional<Value>& value) {
  if (value) columns[name] = *value;
}

/// What a row says of its run.
Json columns_of_run(const RunFacts& run) {
  return {{column::suite, run.suite},
          {column::kind, kind_of(run)},
          {column::device, run.device},
          {column::commit, run.commit},
          {column::cpu, member(run.environment, "cpu")},
          {column::environment_hash, fingerprint(run.environment.dump())}};
}

void add_published(Json& columns, const Case& one) {
  for (const auto& [name, value] : one.published.items()) {
    columns[std::string(kPublishedPrefix) + name] = value;
  }
}

void add_case(Json& columns, const Case& one) {
  columns[column::case_] = one.name;
  const bool is_program = one.find("program") != nullptr;  // what it does is its own affair
  columns[column::techniques] = is_program ? "" : one.technique_names();
  columns[column::ranks] = one.ranks();
  add_published(columns, one);
}

void add_facts(Json& columns, const CaseFacts& facts) {
  const Outcome& outcome = facts.outcome;
  columns[column::started_at] = facts.started_at;
  columns[column::status] = enum_name(outcome.verdict.status);
  columns[column::reason] = outcome.verdict.reason;
  if (keeps_figures(outcome)) set_known(columns, column::peak_rank, outcome.peak_rank);
  for (const auto& [name, value] : facts.planned.items()) {
    columns[std::string(kPlannedPrefix) + name] = value;
  }
}

void add_plan(Json& columns, const PlanFigures& plan) {
  set_known(columns, column::context_bytes, plan.context_bytes);
  set_known(columns, column::nccl_bytes, plan.nccl_bytes);
  if (plan.fits) columns[column::fits] = *plan.fits ? "yes" : "no";
  set_known(columns, column::missing_bytes, plan.missing_bytes);
  set_known(columns, column::run_peak_reserved_lower_bytes, plan.run_peak_reserved_lower_bytes);
  set_known(columns, column::run_peak_reserved_upper_bytes, plan.run_peak_reserved_upper_bytes);
  set_known(columns, column::step_time_lower_bound_ns, plan.step_time_lower_bound_ns);
  if (plan.step_time) add_step_time(columns, *plan.step_time);
}

/// All columns of the runner but those that follow from others: see with_errors().
Json runner_columns(const RunFacts& run, const Case& one, const CaseFacts& facts) {
  Json columns = columns_of_run(run);
  add_case(columns, one);
  add_facts(columns, facts);
  add_plan(columns, facts.plan);
  return columns;
}

bool holds_measurements(const Column& column) {
  return column.group != ColumnGroup::identity && column.group != ColumnGroup::work &&
         column.group != ColumnGroup::provenance;
}

/// How far a figure lies from the published one, in percent of it; null where one is missing.
Json error_percent(const Row& row, const std::string& figure) {
  const auto mine = compared_figure(row, figure);
  const auto published = number_in(row, std::string(kPublishedPrefix) + figure);
  if (!mine || !published || *published == 0) return {};
  return 100.0 * (*mine - *published) / *published;
}

/// The row with the columns that follow from others, and from published figures.
Row with_errors(const Catalog& catalog, const Row& row) {
  constexpr std::string_view kSuffix = "_error_percent";
  const auto step = step_of_published(row);
  Row result = Row::object();
  for (const Column& column : catalog.columns) {
    Json value = member(row, column.name);
    if (column.name.ends_with(kSuffix)) {
      const std::size_t size = column.name.size() - kSuffix.size();
      value = error_percent(row, column.name.substr(0, size) + "_bytes");
    } else if (column.name == column::step_time_of_published_percent) {
      value = step ? Json(step->percent()) : Json();
    }
    if (!value.is_null()) result[column.name] = value;
  }
  return result;
}

/// What the kernel says of the first processor; empty: it has no such file.
std::string cpu_text() {
  constexpr std::size_t kMostBytes = 64 * 1024;
  try {
    return read_file_start("/proc/cpuinfo", kMostBytes).bytes;
  } catch (const ConfigError&) {
    return "";
  }
}

std::string cpu_model() {
  std::istringstream text(cpu_text());
  for (std::string line; std::getline(text, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system;  // ARM's cpuinfo has no names
  return uname(&system) == 0 ? system.machine : "";
}

std::string kernel() {
  utsname system;
  return uname(&system) == 0 ? system.release : "";
}

std::vector<std::string> relevant_variables() {
  constexpr std::array<std::string_view, 15> kPrefixes = {
      "OMP_",  "KMP_",    "GOMP_",           "MKL_",        "ONEDNN_",
      "DNNL_", "ATEN_",   "PYTORCH_",        "CUDA_",       "CUBLAS_",
      "NCCL_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=", "LD_LIBRARY_PATH="};
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const auto is_prefix = [&](std::string_view prefix) { return variable.starts_with(prefix); };
    if (std::any_of(kPrefixes.begin(), kPrefixes.end(), is_prefix))
      variables.emplace_back(variable);
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

}  // namespace

std::string kind_of(const RunFacts& run) { return run.is_planned ? "planned" : "measured"; }

Json environment_of(const Catalog& catalog, const DryRun* dry_run) {
  Json variables = Json::object();
  for (const std::string& variable : relevant_variables()) {
    const std::size_t sign = variable.find('=');
    variables[variable.substr(0, sign)] = variable.substr(sign + 1);
  }
  Json here = {{"cpu", cpu_model()},
               {"cores", usable_cores()},
               {"kernel", kernel()},
               {"libtorch", catalog.libtorch},
               {"variables", std::move(variables)}};
  const dry_run::Gpu* gpu = dry_run == nullptr ? nullptr : dry_run::added_gpu(dry_run->gpu);
  if (gpu != nullptr) here["gpu"] = figures_of(*gpu);
  // Whatever bytes a variable holds, it must come out.
  return Json::parse(here.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Row make_row(const Catalog& catalog, const RunFacts& run, const Case& one, const CaseFacts& facts) {
  const Outcome& outcome = facts.outcome;
  const Json known = runner_columns(run, one, facts);
  const Json measured = columns_of(outcome.record);
  Row row = Row::object();
  for (const Column& column : catalog.columns) {
    if (run.is_planned && column.is_real_only()) continue;
    Json value;
    if (column.origin == kRunnerOrigin) {
      value = member(known, column.name);
    } else if (!column.case_path().empty()) {
      const Json* field = one.find(column.case_path());
      if (field != nullptr) value = *field;
    } else if (keeps_figures(outcome)) {
      value = across_ranks(column, member(measured, column.name), outcome.rank_records);
    } else if (!holds_measurements(column)) {
      value = member(measured, column.name);
    }
    // A worker that went wrong may have said anything.
    if (is_cell(value)) row[column.name] = value;
  }
  set_known(row, column::rule_model_states_bytes, rule_model_states_bytes(row, one));
  set_known(row, column::rule_driver_peak_bytes, rule_driver_peak_bytes(row));
  return with_errors(catalog, row);
}

Row with_published(const Catalog& catalog, Row row, const Case& one) {
  for (const Column& column : catalog.columns) {
    if (column.name.starts_with(kPublishedPrefix)) row.erase(column.name);
  }
  add_published(row, one);
  return with_errors(catalog, row);
}

std::vector<Row> make_rank_rows(const Catalog& catalog, const std::vector<Json>& rank_records) {
  std::vector<Row> rows;
  for (const Json& record : rank_records) {
    Row row{{"rank", rows.size()},
            {column::status, member(record, column::status)},
            {column::reason, member(record, column::reason)}};
    const bool is_ok = row[column::status] == enum_name(Status::ok);
    const Json measured = columns_of(record);
    for (const Column& column : catalog.columns) {
      const Json value = member(measured, column.name);
      if (!value.is_null() && (is_ok || !holds_measurements(column))) row[column.name] = value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headroom
