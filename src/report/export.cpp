// SPDX-License-Identifier: Apache-2.0
#include "src/report/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "src/core/json.h"
#include "src/core/junit.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/results/repeats.h"
#include "src/results/statistics.h"

namespace headroom {

// What all exports say of a case in the same way.
namespace {

using Json = nlohmann::ordered_json;

/// Where a case belongs: "quickstart/cpu", or, of a plan, "vit_cifar10/planned_a100-40gb".
std::string group_of(const Repeats& repeats) {
  return repeats.suite + "/" + (repeats.kind == "planned" ? "planned_" : "") + repeats.device;
}

/// The name under which other tools know it: the group, "/" and its name.
std::string path_of(const Repeats& repeats) { return group_of(repeats) + "/" + repeats.name; }

bool is_ok(const Repeats& repeats) { return repeats.status() == "ok"; }

/// How it ended, for people: "ok", "crashed: signal 11", "not done".
std::string ending_of(const Repeats& repeats) {
  const std::string reason = repeats.runs.empty() ? "" : text_in(repeats.row(), column::reason);
  return repeats.status() + (reason.empty() ? "" : ": " + reason);
}

/// A column that is exported: of all of them less is better.
struct ExportedFigure {
  std::string_view column;
  std::string_view unit;  // "bytes" or "ns"
};
constexpr ExportedFigure kExportedFigures[] = {
    {column::run_peak_allocated_bytes, "bytes"}, {column::run_peak_reserved_bytes, "bytes"},
    {column::driver_peak_bytes, "bytes"},        {column::pinned_peak_bytes, "bytes"},
    {column::step_time_median_ns, "ns"},
};

/// The name under which other tools know a figure of a case.
std::string path_of(const Repeats& repeats, const ExportedFigure& figure) {
  return path_of(repeats) + "/" + std::string(figure.column);
}

}  // namespace

// Google Benchmark.
namespace {

constexpr std::string_view kTime = column::step_time_median_ns;

/// What all entries of one repeat share.
Json entry_of(const Repeats& repeats, std::size_t repeat, const std::string& name) {
  return {{"name", name},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", repeats.runs.size()},
          {"repetition_index", repeat},
          {"threads", 1}};
}

/// The tool wants both times, in a unit that it knows.
void put_time(Json& entry, const Json& value) {
  entry["real_time"] = value;
  entry["cpu_time"] = value;
  entry["time_unit"] = "ns";
}

void add_repeat(Json& benchmarks, const Repeats& repeats, std::size_t repeat) {
  const Row& row = repeats.runs[repeat]->row;
  std::optional<Json> timed;
  if (const auto time = row.find(kTime); time != row.end()) {
    timed = entry_of(repeats, repeat, path_of(repeats));
    (*timed)["iterations"] = integer_in(row, column::step_time_samples).value_or(1);
    put_time(*timed, *time);
  }
  Json of_bytes = Json::array();
  for (const ExportedFigure& figure : kExportedFigures) {
    const auto value = row.find(figure.column);
    // 0 has no geometric mean, which the tool takes of all.
    if (figure.column == kTime || value == row.end() || *value == 0) continue;
    if (timed) (*timed)[figure.column] = *value;
    Json entry = entry_of(repeats, repeat, path_of(repeats, figure));
    entry["iterations"] = 1;
    put_time(entry, *value);
    of_bytes.push_back(std::move(entry));
  }
  if (timed) benchmarks.push_back(std::move(*timed));
  for (Json& entry : of_bytes) benchmarks.push_back(std::move(entry));
}

/// Its name is that of no other entry: of equal names the tool wants times.
Json failed_entry(const Repeats& repeats) {
  return {{"name", path_of(repeats) + "_not_ok"},
          {"run_name", path_of(repeats)},
          {"run_type", "aggregate"},
          {"aggregate_name", "not_ok"},
          {"error_occurred", true},
          {"error_message", ending_of(repeats)}};
}

}  // namespace

std::string google_benchmark_export(const std::vector<Results>& all) {
  Json benchmarks = Json::array();
  for (const Repeats& repeats : repeats_of(all)) {
    for (std::size_t i = 0; i < repeats.runs.size(); ++i) add_repeat(benchmarks, repeats, i);
    if (!is_ok(repeats)) benchmarks.push_back(failed_entry(repeats));
  }
  const Json context = {{"executable", "headroom"},
                        {"json_schema_version", 1},
                        {"cpu_time", "real_time again: it is not measured"},
                        {"COLUMN_bytes", "bytes in the fields of the times"}};
  return json_text({{"context", context}, {"benchmarks", benchmarks}});
}

// github-action-benchmark.
namespace {

void add_figures(Json& entries, const Repeats& repeats) {
  for (const ExportedFigure& figure : kExportedFigures) {
    const std::vector<double> values = repeats.values(figure.column);
    if (values.empty()) continue;
    Json entry = {{"name", path_of(repeats, figure)},
                  {"unit", figure.unit},
                  {"value", std::llround(median(values))}};
    if (values.size() > 1) {
      entry["range"] = fmt::format("± {}", std::llround(median_deviation(values)));
      entry["extra"] = fmt::format("median of {} processes", values.size());
    }
    entries.push_back(std::move(entry));
  }
}

}  // namespace

std::string github_action_export(const std::vector<Results>& all) {
  Json entries = Json::array();
  nlohmann::ordered_map<std::string, std::vector<std::string>> not_ok;
  for (const Repeats& repeats : repeats_of(all)) {
    add_figures(entries, repeats);
    std::vector<std::string>& endings = not_ok[group_of(repeats)];
    if (!is_ok(repeats)) endings.push_back(repeats.name + ": " + ending_of(repeats));
  }
  for (const auto& [group, endings] : not_ok) {
    entries.push_back({{"name", group + "/cases_not_ok"},
                       {"unit", "cases"},
                       {"value", endings.size()},
                       {"extra", fmt::format("{}", fmt::join(endings, "\n"))}});
  }
  return json_text(entries);
}

// Bencher.
namespace {

Json metric_of(const std::vector<double>& values) {
  Json metric = {{"value", std::llround(median(values))}};
  if (values.size() > 1) {
    metric["lower_value"] = std::llround(std::ranges::min(values));
    metric["upper_value"] = std::llround(std::ranges::max(values));
  }
  return metric;
}

}  // namespace

std::string bencher_export(const std::vector<Results>& all) {
  Json benchmarks = Json::object();
  for (const Repeats& repeats : repeats_of(all)) {
    Json& not_ok = benchmarks[group_of(repeats)]["cases_not_ok"]["value"];
    not_ok = (not_ok.is_null() ? 0 : not_ok.get<int>()) + (is_ok(repeats) ? 0 : 1);
    for (const ExportedFigure& figure : kExportedFigures) {
      const std::vector<double> values = repeats.values(figure.column);
      if (!values.empty()) benchmarks[path_of(repeats)][figure.column] = metric_of(values);
    }
  }
  return json_text(benchmarks);
}

// JUnit.
namespace {

using Outcome = JunitTest::Outcome;

JunitTest test_of(const CaseResult& result) {
  const Status status = status_of(result.row);
  if (status == Status::ok) return {.name = result.name};
  const std::string end(enum_name(status));
  const std::string reason = text_in(result.row, column::reason);
  const std::string message = end + ": " + reason;
  switch (status) {
    case Status::out_of_memory:
      return {.name = result.name, .text = message};
    case Status::unsupported:
      return {.name = result.name, .outcome = Outcome::skipped, .message = message};
    default:
      return {.name = result.name,
              .outcome = Outcome::failed,
              .type = end,
              .message = message,
              .text = reason};
  }
}

}  // namespace

std::string junit_export(const std::vector<Results>& all) {
  std::vector<JunitSuite> suites;
  for (const Results& results : all) {
    JunitSuite& suite = suites.emplace_back(JunitSuite{results.suite(), results.journal, {}});
    for (const CaseResult& result : results.cases) suite.tests.push_back(test_of(result));
    for (const std::string& name : results.not_done) {
      suite.tests.push_back({.name = name, .outcome = Outcome::skipped, .message = "not done"});
    }
  }
  return junit_xml(suites);
}

// Markdown.
namespace {

/// The median, for people; empty where there is no figure.
std::string cell(const Repeats& repeats, const ExportedFigure& figure) {
  const std::vector<double> values = repeats.values(figure.column);
  if (values.empty()) return "";
  const double middle = median(values);
  if (figure.unit == "bytes") return format_bytes(std::llround(middle));
  return fmt::format("{:.2f} ms", middle / 1e6);
}

/// Only columns that some case of the group has: a plan has no time, the CPU nothing reserved.
std::vector<ExportedFigure> figures_of(const std::vector<Repeats>& cases,
                                       const std::string& group) {
  std::vector<ExportedFigure> figures;
  for (const ExportedFigure& figure : kExportedFigures) {
    for (const Repeats& repeats : cases) {
      if (group_of(repeats) != group || repeats.values(figure.column).empty()) continue;
      figures.push_back(figure);
      break;
    }
  }
  return figures;
}

std::string heading(const std::string& group, const std::vector<ExportedFigure>& figures) {
  std::string text = "### " + escape_markdown(group) + "\n\n| case |";
  std::string rule = "\n| --- |";
  for (const ExportedFigure& figure : figures) {
    text += " " + escape_markdown(std::string(figure.column.substr(0, figure.column.rfind('_')))) +
            " |";
    rule += " --: |";
  }
  return text + " repeats | end |" + rule + " --: | --- |\n";
}

}  // namespace

std::string markdown_export(const std::vector<Results>& all) {
  const std::vector<Repeats> cases = repeats_of(all);
  std::string text;
  std::string group;
  std::vector<ExportedFigure> figures;
  for (const Repeats& repeats : cases) {
    if (group_of(repeats) != group) {
      group = group_of(repeats);
      figures = figures_of(cases, group);
      text += (text.empty() ? "" : "\n") + heading(group, figures);
    }
    text += "| " + escape_markdown(repeats.name) + " |";
    for (const ExportedFigure& figure : figures) text += " " + cell(repeats, figure) + " |";
    text += fmt::format(" {} | {} |\n", repeats.runs.size(), escape_markdown(ending_of(repeats)));
  }
  return text;
}

std::span<const ExportFormat> export_formats() {
  static constexpr std::array kFormats{
      ExportFormat{"google_benchmark", "JSON for Google Benchmark's tools/compare.py",
                   &google_benchmark_export},
      ExportFormat{"github_action", "JSON for github-action-benchmark, customSmallerIsBetter",
                   &github_action_export},
      ExportFormat{"bencher", "Bencher Metric Format, JSON", &bencher_export},
      ExportFormat{"junit", "XML, one test for each case", &junit_export},
      ExportFormat{"markdown", "tables, for $GITHUB_STEP_SUMMARY", &markdown_export},
      ExportFormat{"jsonl", "JSON Lines: each case with its steps and tensors", &jsonl_export},
  };
  return kFormats;
}

}  // namespace headroom
