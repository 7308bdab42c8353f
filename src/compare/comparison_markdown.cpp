// SPDX-License-Identifier: Apache-2.0
#include "src/compare/change_text.h"
#include "src/compare/comparison_format.h"
#include "src/compare/comparison_lines.h"
#include "src/core/markup.h"

namespace headroom {
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

}  // namespace

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "**" + escape_markdown(count_text(comparison)) + "**\n\n";
  if (!comparison.machine_differences.empty()) {
    text += "Different machines: this says nothing of a regression.\n\n" +
            list_text(comparison.machine_differences) + "\n";
  }
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

}  // namespace headroom
