// SPDX-License-Identifier: Apache-2.0
#include "src/compare/comparison_lines.h"

#include <algorithm>

#include "src/compare/change_text.h"
#include "src/core/enum_names.h"

namespace headroom {
namespace {

constexpr std::size_t kMostGrowth = 6;  // lines of what grew

std::string name_of(Trend trend) { return std::string(enum_name(trend)); }

ComparisonLine status_line(const CaseChange& one) {
  return {name_of(one.trend), "status", one.old_status, one.new_status, status_text(one)};
}

ComparisonLine figure_line(const FigureChange& figure) {
  return {name_of(figure.trend), figure.column, figure_text(figure.column, figure.old_value),
          figure_text(figure.column, figure.new_value), change_text(figure)};
}

std::vector<std::string> notes_of(const CaseChange& one) {
  std::vector<std::string> notes;
  for (const std::string& text : one.work_differences) notes.push_back("other work: " + text);
  for (const FigureChange& figure : one.figures) {
    if (figure.trend != Trend::same && !figure.note.empty()) {
      notes.push_back(figure.column + ": " + figure.note);
    }
  }
  if (one.growth.empty()) return notes;
  if (one.old_place != one.new_place) {
    notes.push_back("the peak was in " + one.old_place + " and is in " + one.new_place);
  } else {
    notes.push_back("the peak is in " + one.new_place);
  }
  for (std::size_t i = 0; i < std::min(one.growth.size(), kMostGrowth); ++i) {
    notes.push_back(growth_text(one.growth[i]));
  }
  if (one.growth.size() > kMostGrowth) {
    notes.push_back("and " + std::to_string(one.growth.size() - kMostGrowth) + " more kinds");
  }
  return notes;
}

ComparisonEntry entry_of(const CaseChange& one) {
  ComparisonEntry entry{.where = one.suite + " " + one.name, .lines = {}, .notes = notes_of(one)};
  if (one.old_status != one.new_status) entry.lines.push_back(status_line(one));
  for (const FigureChange& figure : one.figures) {
    if (figure.trend != Trend::same) entry.lines.push_back(figure_line(figure));
  }
  return entry;
}

}  // namespace

std::vector<ComparisonEntry> comparison_entries(const Comparison& comparison) {
  std::vector<ComparisonEntry> entries;
  for (const CaseChange& one : comparison.cases) {
    ComparisonEntry entry = entry_of(one);
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
