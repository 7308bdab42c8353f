// SPDX-License-Identifier: Apache-2.0
#include "src/compare/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "src/core/enum_names.h"
#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxNamedBlocks = 8;  // that are named

bool is_bytes(const std::string& column) { return column.find("_bytes") != std::string::npos; }

std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "" : "+") + format_bytes(bytes);
}

double percent_of(double ratio) { return 100 * (ratio - 1); }

std::string blocks_text(const std::vector<std::int64_t>& blocks) {
  if (blocks.empty()) return "outside of the blocks";
  if (blocks.size() == 1) return fmt::format("in block {}", blocks.front());
  std::string names;
  for (std::size_t i = 0; i < std::min(blocks.size(), kMaxNamedBlocks); ++i) {
    names += (i == 0 ? "" : ", ") + std::to_string(blocks[i]);
  }
  if (blocks.size() > kMaxNamedBlocks) names += ", ...";
  return fmt::format("in each of {} blocks ({})", blocks.size(), names);
}

constexpr std::size_t kMaxGrowthLines = 6;  // lines of what grew

std::string name_of(Trend trend) { return std::string(enum_name(trend)); }

ComparisonLine status_line(const CaseChange& change) {
  return {name_of(change.trend), "status", change.old_status, change.new_status,
          status_text(change)};
}

ComparisonLine figure_line(const FigureChange& figure) {
  return {name_of(figure.trend), figure.column, figure_text(figure.column, figure.old_value),
          figure_text(figure.column, figure.new_value), change_text(figure)};
}

std::vector<std::string> notes_of(const CaseChange& change) {
  std::vector<std::string> notes;
  for (const std::string& text : change.work_differences) notes.push_back("other work: " + text);
  for (const FigureChange& figure : change.figures) {
    if (figure.trend != Trend::same && !figure.note.empty()) {
      notes.push_back(figure.column + ": " + figure.note);
    }
  }
  if (change.growth.empty()) return notes;
  if (change.old_place != change.new_place) {
    notes.push_back("the peak was in " + change.old_place + " and is in " + change.new_place);
  } else {
    notes.push_back("the peak is in " + change.new_place);
  }
  for (std::size_t i = 0; i < std::min(change.growth.size(), kMaxGrowthLines); ++i) {
    notes.push_back(growth_text(change.growth[i]));
  }
  if (change.growth.size() > kMaxGrowthLines) {
    notes.push_back("and " + std::to_string(change.growth.size() - kMaxGrowthLines) +
                    " more kinds");
  }
  return notes;
}

ComparisonEntry entry_of(const CaseChange& change) {
  ComparisonEntry entry{
      .where = change.suite + " " + change.name, .lines = {}, .notes = notes_of(change)};
  if (change.old_status != change.new_status) entry.lines.push_back(status_line(change));
  for (const FigureChange& figure : change.figures) {
    if (figure.trend != Trend::same) entry.lines.push_back(figure_line(figure));
  }
  return entry;
}

}  // namespace

std::string figure_text(const std::string& column, double value) {
  if (is_bytes(column)) return format_bytes(std::llround(value));
  if (column.ends_with("_ns")) return fmt::format("{:.2f} ms", value / 1e6);
  return fmt::format("{:.6g}", value);
}

std::string change_text(const FigureChange& change) {
  if (change.ratio) {
    std::string text = fmt::format("{:+.1f} %", percent_of(*change.ratio));
    if (!std::isinf(change.interval->upper)) {
      text += fmt::format(" ({:+.1f} to {:+.1f})", percent_of(change.interval->lower),
                          percent_of(change.interval->upper));
    }
    return text;
  }
  const double difference = change.new_value - change.old_value;
  const std::string much = is_bytes(change.column) ? signed_bytes(std::llround(difference))
                                                   : fmt::format("{:+.6g}", difference);
  if (change.old_value == 0) return much;
  return much + fmt::format(" ({:+.2f} %)", change.percent());
}

std::string growth_text(const Growth& growth) {
  std::string text = fmt::format("{} {}", growth.category, signed_bytes(growth.total_bytes()));
  if (!growth.line.empty()) return text + ", allocated at " + growth.line;
  if (growth.phase.empty()) return text;
  text += fmt::format(": {} {} of {} {}, made in {}", std::abs(growth.count),
                      growth.count > 0 ? "more" : "fewer", format_bytes(growth.bytes),
                      blocks_text(growth.blocks), growth.phase);
  return growth.op.empty() ? text : text + ", " + growth.op;
}

std::string status_text(const CaseChange& change) {
  if (change.new_status.empty()) return "vanished";
  if (change.old_status.empty()) return "new, " + change.new_status;
  if (change.old_status == change.new_status) return change.new_status;
  const std::string text = change.new_status + ", was " + change.old_status;
  return change.reason.empty() ? text : text + ": " + change.reason;
}

std::string count_text(const Comparison& comparison) {
  const auto names = enum_names<Trend>();
  std::string text = fmt::format("{} {}: ", comparison.cases.size(),
                                 comparison.cases.size() == 1 ? "case" : "cases");
  bool is_first = true;
  for (std::size_t i = names.size(); i-- > 0;) {  // the gravest first
    const auto count =
        std::ranges::count(comparison.cases, static_cast<Trend>(i), &CaseChange::trend);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", is_first ? "" : ", ", count, names[i]);
    is_first = false;
  }
  return text;
}

std::vector<ComparisonEntry> comparison_entries(const Comparison& comparison) {
  std::vector<ComparisonEntry> entries;
  for (const CaseChange& change : comparison.cases) {
    ComparisonEntry entry = entry_of(change);
    if (!entry.lines.empty() || !entry.notes.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<std::string> line_header() {
  return {"case", "trend", "figure", "old", "new", "change"};
}

std::vector<std::vector<std::string>> line_cells(const ComparisonEntry& entry) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparisonLine& line : entry.lines) {
    rows.push_back(
        {entry.where, line.trend, line.figure, line.old_text, line.new_text, line.change});
  }
  return rows;
}

}  // namespace headroom
