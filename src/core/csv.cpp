// SPDX-License-Identifier: Apache-2.0
#include "src/core/csv.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/core/yaml.h"

namespace headroom {
namespace {

/// A spreadsheet could run the cell, or it is such a cell with a guard already. Guarding the latter
/// too is what makes reading the inverse of writing.
bool needs_guard(std::string_view cell) {
  const std::size_t start = cell.find_first_not_of('\'');
  if (start == std::string_view::npos) return false;
  if (std::string_view("=+-@\t\r").find(cell[start]) == std::string_view::npos) return false;
  return start > 0 || !parse_number(cell);
}

void append_cell(std::string& line, const std::string& cell) {
  const std::string text = printable(needs_guard(cell) ? "'" + cell : cell, "\t\r\n");
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

std::string without_guard(std::string cell) {
  if (cell.starts_with('\'') && needs_guard(cell)) cell.erase(0, 1);
  return cell;
}

/// Reads a text cell by cell and knows where it is.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file)
      : rest_(text), place_{.file = file, .line = 1, .column = 1} {}

  bool at_end() const { return rest_.empty(); }
  const Place& place() const { return place_; }

  std::vector<std::string> line() {
    std::vector<std::string> cells{cell()};
    while (take(",")) cells.push_back(cell());
    if (!at_end() && !take("\r\n") && !take("\n")) {
      throw ResultsError(place_.text() + ": expected a comma or the end of the line");
    }
    return cells;
  }

 private:
  std::string cell() {
    if (rest_.starts_with('"')) return without_guard(quoted_cell());
    const std::size_t size = std::min(rest_.find_first_of(",\"\r\n"), rest_.size());
    return without_guard(advance(size));
  }

  std::string quoted_cell() {
    const Place start = place_;
    advance(1);
    std::string value;
    while (true) {
      const std::size_t size = rest_.find('"');
      if (size == std::string_view::npos) {
        throw ResultsError(start.text() + ": the quote is not closed");
      }
      value += advance(size);
      advance(1);
      if (!rest_.starts_with('"')) return value;
      value += advance(1);
    }
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    advance(text.size());
    return true;
  }

  std::string advance(std::size_t size) {
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    for (const char c : taken) {
      place_.line += c == '\n' ? 1 : 0;
      place_.column = c == '\n' ? 1 : place_.column + 1;
    }
    return taken;
  }

  std::string_view rest_;
  Place place_;
};

void check_header(const std::vector<std::string>& header, const std::string& file) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : header) {
    if (name.empty()) throw ResultsError(file + ":1:1: a column has no name");
    if (!seen.insert(name).second) {
      throw ResultsError(file + ":1:1: the column '" + name + "' stands twice");
    }
  }
}

void check_utf8(std::string_view text, const std::string& file) {
  const std::size_t at = find_invalid_utf8(text);
  if (at == std::string_view::npos) return;
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const auto column = static_cast<int>(at - (before.rfind('\n') + 1)) + 1;
  throw ResultsError(Place{file, line, column}.text() + ": no valid UTF-8");
}

}  // namespace

std::string csv_line(std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    append_cell(line, cells[i]);
  }
  // A line of one empty cell would read as no line at all.
  if (cells.size() == 1 && cells[0].empty()) line = "\"\"";
  return line + "\n";
}

std::int64_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? -1 : found - header.begin();
}

CsvTable read_csv(std::string_view text, const std::string& file) {
  if (text.starts_with(kUtf8ByteOrderMark)) text.remove_prefix(kUtf8ByteOrderMark.size());
  check_utf8(text, file);
  CsvReader reader(text, file);
  if (reader.at_end()) throw ResultsError(file + ":1:1: the header is missing");
  CsvTable table{.header = reader.line(), .rows = {}};
  check_header(table.header, file);
  while (!reader.at_end()) {
    const Place start = reader.place();
    table.rows.push_back(reader.line());
    if (table.rows.back().size() != table.header.size()) {
      throw ResultsError(start.text() + ": " + std::to_string(table.rows.back().size()) +
                         " cells; the header has " + std::to_string(table.header.size()));
    }
  }
  return table;
}

}  // namespace headroom
