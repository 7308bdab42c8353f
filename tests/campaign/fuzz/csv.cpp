// SPDX-License-Identifier: Apache-2.0
#include "src/core/csv.h"

#include <algorithm>

#include "src/core/text.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

using Cells = std::vector<std::string>;

/// As the cells read back: what steers a terminal stands as printable() writes it.
Cells as_kept(Cells cells) {
  for (std::string& cell : cells) cell = printable(cell, "\t\r\n");
  return cells;
}

void check_written(const Cells& header, const Cells& row) {
  const CsvTable table = read_csv(csv_line(header) + csv_line(row), "written");
  require(table.rows.size() == 1, "a line that is written is one row");
  require(table.header == as_kept(header) && table.rows[0] == as_kept(row),
          "cells read back as they were");
}

/// The input's bytes as the cells of a row, whatever they are.
void write_and_read(std::string_view input) {
  Cells row;
  Cells header;
  while (row.size() < 16) {
    const std::size_t end = std::min(input.find('|'), input.size());
    row.emplace_back(input.substr(0, end));
    header.push_back("column " + std::to_string(row.size()));
    if (end == input.size()) break;
    input.remove_prefix(end + 1);
  }
  check_written(header, row);
}

}  // namespace

void fuzz_csv(std::string_view input) {
  write_and_read(input);
  CsvTable table;
  if (!is_accepted([&] { table = read_csv(input, kInputName); })) return;
  for (const Cells& row : table.rows) {
    require(row.size() == table.header.size(), "a row has as many cells as the header");
  }
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    require(table.column(table.header[i]) == static_cast<std::int64_t>(i),
            "a column is found by its name");
  }
}

}  // namespace headroom
