// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/compare/comparison.h"

namespace headroom {

/// A line of a comparison for people.
struct ComparisonLine {
  std::string trend;   // of the figure, or of the case's status
  std::string figure;  // a column, or "status"
  std::string old_text;
  std::string new_text;
  std::string change;
};

/// A case that is not the same, or of other work: its lines, and behind them what explains them.
struct ComparisonEntry {
  std::string where;  // suite and case
  std::vector<ComparisonLine> lines;
  std::vector<std::string> notes;
};

/// Nothing for a case that is the same.
std::vector<ComparisonEntry> comparison_entries(const Comparison& comparison);

/// The lines as a table: the names of its cells, and the cells.
std::vector<std::string> line_header();
std::vector<std::vector<std::string>> line_cells(const ComparisonEntry& entry);

}  // namespace headroom
