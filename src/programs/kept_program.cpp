// SPDX-License-Identifier: Apache-2.0
#include "src/programs/kept_program.h"

#include <algorithm>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/gpus/gpu.h"
#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/runner/suite_run.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// As JSON can hold it, whatever bytes there are.
Json json_of(const std::vector<std::string>& words) {
  return Json::parse(Json(words).dump(-1, ' ', false, Json::error_handler_t::replace));
}

Case case_of(const ProgramCase& program) {
  Case one;
  one.name = program.name;
  one.fields = {{"ranks", program.ranks},
                {"model", {{"name", program.name}}},
                {"program", json_of(program.words)}};
  if (!program.rank.empty()) one.fields["rank"] = program.rank;
  const DryRun& dry_run = program.dry_run;
  if (dry_run.memory_bytes > 0) one.fields["gpu_memory_bytes"] = dry_run.memory_bytes;
  if (dry_run.steps > 0) one.fields["steps"] = dry_run.steps;
  if (dry_run.seconds > 0) one.fields["for"] = dry_run.seconds;
  const Field gate = gate_field();
  for (const Field& limit : gate.fields) one.gate[limit.name] = limit.default_value;
  return one;
}

Suite suite_of(const ProgramCase& program) {
  Suite suite;
  suite.name = program.name;
  suite.cases = {case_of(program)};
  Json entry{{"name", program.name}};
  entry.update(suite.cases[0].fields);
  suite.effective_yaml =
      "# What was planned: a program, and no suite that can be planned again.\n" +
      json_text({{"suite", program.name}, {"cases", Json::array({entry})}});
  return suite;
}

/// In the form of a worker's record. `peaks`: the process, or what it takes without end.
Json record_of(const Json& process, const Json& peaks) {
  const dry_run::Gpu* gpu = dry_run::find_gpu(process.at("gpu").get<std::string>());
  Json columns{{column::device_name, gpu == nullptr ? process.at("gpu") : Json(gpu->product)}};
  const std::pair<std::string_view, const char*> figures[] = {
      {column::run_peak_allocated_bytes, "peak_allocated_bytes"},
      {column::run_peak_reserved_bytes, "peak_reserved_bytes"},
      {column::driver_peak_bytes, "driver_peak_bytes"}};
  for (const auto& [name, member] : figures) {
    if (peaks.contains(member)) columns[std::string(name)] = peaks[member];
  }
  if (process.at("libtorch") != "") columns[column::libtorch] = process.at("libtorch");
  return {{"columns", std::move(columns)}};
}

PlanFigures figures_of(const Json& process) {
  PlanFigures figures;
  figures.context_bytes = integer_in(process, "context_bytes");
  figures.nccl_bytes = integer_in(process, "nccl_bytes");
  figures.missing_bytes = integer_in(process, "missing_bytes");
  figures.run_peak_reserved_lower_bytes = integer_in(process, "peak_reserved_lower_bytes");
  figures.run_peak_reserved_upper_bytes = integer_in(process, "peak_reserved_upper_bytes");
  return figures;
}

RunFacts facts_of(const Catalog& catalog, const ProgramCase& program) {
  return {.suite = program.name,
          .device = "cuda",
          .is_planned = true,
          .commit = catalog.commit,
          .environment = environment_of(catalog, &program.dry_run)};
}

}  // namespace

std::string name_of_program(const std::vector<std::string>& words) {
  const auto is_script = [](const std::string& word) { return word.ends_with(".py"); };
  const auto script = std::ranges::find_if(words, is_script);
  const std::filesystem::path path = script == words.end() ? words.front() : *script;
  std::string name = path.stem().string().substr(0, kLongestCaseName);
  std::ranges::replace_if(
      name, [](char c) { return !is_name(std::string(1, c)) && c != '.' && c != '_' && c != '-'; },
      '_');
  return is_name(name) ? name : "program";
}

KeptProgram::KeptProgram(const Catalog& catalog, ProgramCase program,
                         const std::filesystem::path& folder)
    : catalog_(catalog),
      suite_(suite_of(program)),
      facts_(facts_of(catalog, program)),
      started_at_(utc_now()),
      results_(catalog, suite_, folder, facts_.environment) {
  const std::string words = suite_.cases[0].fields.at("program").dump();
  results_.begin(
      make_header(suite_, catalog, kind_of(facts_), program.dry_run.gpu, fingerprint(words)),
      /*resume=*/false);
}

std::string KeptProgram::snapshot_path() const {
  return results_.folder().snapshot_path(suite_.cases[0].name);
}

void KeptProgram::keep(const ProgramReport& report, const std::string& why) {
  if (report.processes.empty()) return add({.verdict = {Status::failed, why}, .record = {}}, {});
  const Json& process = report.largest();
  Outcome outcome;
  PlanFigures figures = figures_of(process);
  if (report.has_failed && report.fits) {
    outcome.verdict = {Status::failed, why};
  } else if (!report.fits) {
    outcome.verdict = {Status::out_of_memory, why};
    figures.fits = false;
    outcome.keeps_figures = process.contains("without_end");
  } else {
    figures.fits = true;
  }
  outcome.record =
      record_of(process, process.contains("without_end") ? process["without_end"] : process);
  outcome.record["processes"] = report.processes;
  if (!report.step_memory.is_null()) outcome.record["step_memory"] = report.step_memory;
  if (suite_.cases[0].ranks() > 1) outcome.peak_rank = process.value("rank", std::size_t{0});
  add(outcome, figures);
}

void KeptProgram::keep_unsupported(const std::string& why) {
  add({.verdict = {Status::unsupported, why}, .record = {}}, {});
}

void KeptProgram::add(const Outcome& outcome, const PlanFigures& figures) {
  const Case& one = suite_.cases[0];
  const CaseFacts facts{.started_at = started_at_, .outcome = outcome, .plan = figures};
  results_.keep(one, make_row(catalog_, facts_, one, facts), outcome);
}

}  // namespace headroom
