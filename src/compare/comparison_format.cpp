// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/compare/comparison.h"
#include "src/compare/comparison_text.h"
#include "src/core/enum_names.h"
#include "src/core/github.h"
#include "src/core/json.h"
#include "src/core/junit.h"
#include "src/core/text.h"

namespace headroom {

// A table for a terminal.
namespace {

constexpr const char* kOtherMachines = "Different machines: this says nothing of a regression.";
constexpr const char* kTried = "What is tried:";

std::string lines_below(const char* title, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::string text = std::string(title) + "\n";
  for (const std::string& line : texts) text += "  " + printable(line) + "\n";
  return text;
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> lines;
  std::string notes;
  for (const ComparisonEntry& entry : comparison_entries(comparison)) {
    std::ranges::move(line_cells(entry), std::back_inserter(lines));
    if (!entry.notes.empty()) notes += printable(entry.where) + ":\n";
    for (const std::string& note : entry.notes) notes += "  " + printable(note) + "\n";
  }
  std::string text = lines_below(kTried, comparison.varied) +
                     lines_below(kOtherMachines, comparison.machine_differences);
  if (!lines.empty()) text += format_table(line_header(), lines, {"old", "new"}) + "\n";
  if (!notes.empty()) text += notes + "\n";
  return text + count_text(comparison) + "\n";
}

// Markdown.
namespace {

std::string row_text(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + escape_markdown(cell) + " |";
  return text + "\n";
}

std::string list_text(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "- " + escape_markdown(text) + "\n";
  return list;
}

std::string list_below(const char* title, const std::vector<std::string>& texts) {
  return texts.empty() ? "" : std::string(title) + "\n\n" + list_text(texts) + "\n";
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "**" + escape_markdown(count_text(comparison)) + "**\n\n";
  text += list_below(kTried, comparison.varied) +
          list_below(kOtherMachines, comparison.machine_differences);
  std::string rows;
  std::string notes;
  for (const ComparisonEntry& entry : comparison_entries(comparison)) {
    for (const auto& cells : line_cells(entry)) rows += row_text(cells);
    if (entry.notes.empty()) continue;
    notes += escape_markdown(entry.where) + ":\n\n" + list_text(entry.notes) + "\n";
  }
  if (!rows.empty()) {
    text += row_text(line_header()) + "| --- | --- | --- | ---: | ---: | ---: |\n" + rows + "\n";
  }
  return text + notes;
}

// JSON.
namespace {

using Json = nlohmann::ordered_json;

/// Bytes and counts as the integers that they are.
Json number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::nearbyint(value) == value && std::abs(value) < kExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json figure_json(const FigureChange& change) {
  Json json{{"column", change.column},
            {"trend", enum_name(change.trend)},
            {"old", number(change.old_value)},
            {"new", number(change.new_value)}};
  if (change.ratio) json["ratio"] = *change.ratio;
  if (change.interval && !std::isinf(change.interval->upper)) {
    json["ratio_interval"] = {change.interval->lower, change.interval->upper};
  }
  if (!change.note.empty()) json["note"] = change.note;
  return json;
}

Json growth_json(const Growth& growth) {
  Json json{{"category", growth.category},  {"phase", growth.phase},
            {"blocks", growth.blocks},      {"operator", growth.op},
            {"tensor_bytes", growth.bytes}, {"count", growth.count},
            {"bytes", growth.total_bytes()}};
  if (!growth.line.empty()) json["line"] = growth.line;
  return json;
}

Json case_json(const CaseChange& change) {
  Json json{{"suite", change.suite},
            {"case", change.name},
            {"trend", enum_name(change.trend)},
            {"old_status", change.old_status},
            {"new_status", change.new_status},
            {"reason", change.reason},
            {"work_differences", change.work_differences}};
  json["figures"] = Json::array();
  for (const FigureChange& figure : change.figures) json["figures"].push_back(figure_json(figure));
  json["old_place"] = change.old_place;
  json["new_place"] = change.new_place;
  json["growth"] = Json::array();
  for (const Growth& growth : change.growth) json["growth"].push_back(growth_json(growth));
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json{{"trend", enum_name(comparison.trend())},
            {"varied", comparison.varied},
            {"machine_differences", comparison.machine_differences},
            {"cases", Json::array()}};
  for (const CaseChange& change : comparison.cases) json["cases"].push_back(case_json(change));
  return json_text(json);
}

// JUnit.
namespace {

/// What a case's lines and notes say, as one text.
std::string text_of(const CaseChange& change) {
  std::string text;
  for (const ComparisonEntry& entry :
       comparison_entries({.machine_differences = {}, .cases = {change}})) {
    for (const ComparisonLine& line : entry.lines) {
      text += line.figure + ": " + line.old_text + " to " + line.new_text + ", " + line.change +
              ": " + line.trend + "\n";
    }
    for (const std::string& note : entry.notes) text += note + "\n";
  }
  return text;
}

JunitTest test_of(const CaseChange& change) {
  if (change.trend != Trend::worse && change.trend != Trend::unclear) return {.name = change.name};
  const std::string text = text_of(change);
  const std::string message = text.substr(0, text.find('\n'));
  if (change.trend == Trend::unclear) {
    return {.name = change.name, .outcome = JunitTest::Outcome::skipped, .message = message};
  }
  return {.name = change.name,
          .outcome = JunitTest::Outcome::failed,
          .type = "worse",
          .message = message,
          .text = text};
}

}  // namespace

std::string comparison_junit(const Comparison& comparison) {
  std::vector<JunitSuite> suites;
  for (const CaseChange& change : comparison.cases) {
    auto suite = std::ranges::find(suites, change.suite, &JunitSuite::name);
    if (suite == suites.end()) suite = suites.insert(suite, {change.suite, "", {}});
    suite->tests.push_back(test_of(change));
  }
  return junit_xml(suites);
}

std::string comparison_github(const Comparison& comparison) {
  std::string text;
  for (const CaseChange& change : comparison.cases) {
    if (change.trend != Trend::worse && change.trend != Trend::unclear) continue;
    text += github_annotation(change.trend == Trend::worse, change.suite + ": " + change.name,
                              text_of(change));
  }
  return text;
}

}  // namespace headroom
