// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "src/compare/change_text.h"
#include "src/compare/comparison_format.h"
#include "src/compare/comparison_lines.h"
#include "src/core/printable.h"
#include "src/core/text_table.h"

namespace headroom {
namespace {

std::string title(const Comparison& comparison) {
  if (comparison.machine_differences.empty()) return "";
  std::string text = "Different machines: this says nothing of a regression.\n";
  for (const std::string& line : comparison.machine_differences) {
    text += "  " + printable(line) + "\n";
  }
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
  std::string text = title(comparison);
  if (!lines.empty()) text += format_table(line_header(), lines, {"old", "new"}) + "\n";
  if (!notes.empty()) text += notes + "\n";
  return text + count_text(comparison) + "\n";
}

}  // namespace headroom
