// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/compare/comparison.h"

// What a comparison says in words for people, in every form of it.
namespace headroom {

/// "213.08 MiB", "132.14 ms", "0.69315".
std::string figure_text(const std::string& column, double value);

/// "+1.00 MiB (+0.47 %)"; of a time "+5.1 % (+3.2 to +7.0)".
std::string change_text(const FigureChange& change);

/// "activations +2.00 MiB: 1 more of 1.00 MiB in each of 2 blocks (0, 1), forward, aten::add".
std::string growth_text(const Growth& growth);

/// "ok", or "ok, was crashed: SIGSEGV"; "vanished", "new".
std::string status_text(const CaseChange& change);

/// "12 cases: 1 worse, 11 same".
std::string count_text(const Comparison& comparison);

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

/// The lines of an entry as rows of a table, and the header of that table.
std::vector<std::string> line_header();
std::vector<std::vector<std::string>> line_cells(const ComparisonEntry& entry);

}  // namespace headroom
