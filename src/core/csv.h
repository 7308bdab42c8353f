// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One line of CSV (RFC 4180), with its line end, "\n". A cell with a comma, quote or line break is
/// quoted. A spreadsheet would run a cell that starts with = + - @ TAB or CR as a formula: such a
/// cell gets a leading ' unless it is a number; read_csv takes it away again.
///
/// Of what must_be_escaped() (src/core/text.h) a cell may hold TAB, CR and LF alone; all else
/// stands as printable() writes it, and reads back as that.
std::string csv_line(std::span<const std::string> cells);

/// A table as read back. Every row has as many cells as the header.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// The index of the column of that name; -1: there is none.
  std::int64_t column(std::string_view name) const;
};

/// Reads what csv_line wrote, and any other RFC 4180 text: lines may end in CRLF, the last one in
/// nothing, cells may hold quoted line breaks, a UTF-8 byte order mark is skipped.
/// Throws ResultsError with file:line:column where a quote is not closed or stands inside a cell,
/// where a row has more or fewer cells than the header, where a column's name stands twice, where
/// the text is no UTF-8, or where there is no header. `file` names the text in messages.
CsvTable read_csv(std::string_view text, const std::string& file);

}  // namespace headroom
