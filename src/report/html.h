// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// A piece of HTML. Text becomes one only escaped, so that no name out of a suite file can be
/// markup: & < > " ' as entities; what can't be seen or would turn the text around it (control
/// characters, marks of direction) as \u{202e}, bytes that are no UTF-8 as \xff.
class Html {
 public:
  Html() = default;
  Html(std::string_view text);  // NOLINT: text is meant to convert
  Html(const std::string& text) : Html(std::string_view(text)) {}  // NOLINT
  Html(const char* text) : Html(std::string_view(text)) {}         // NOLINT

  /// What the project itself wrote.
  static Html trusted(std::string_view markup);

  Html& operator+=(const Html& more);
  friend Html operator+(Html a, const Html& b) { return std::move(a += b); }

  bool empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

 private:
  std::string markup_;
};

/// Name and value; the value is escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

Html element(std::string_view tag, const Attributes& attributes, const Html& content);
Html element(std::string_view tag, const Html& content);

/// An element that holds nothing: <meta/>, <rect/>.
Html empty_element(std::string_view tag, const Attributes& attributes);

/// A name that somebody chose, apart from the direction of the text around it.
Html name_html(const std::string& name);

struct HtmlColumn {
  Html title;
  bool is_number = false;  // stands to the right
  std::string group = {};  // a title over this column and those beside it of the same group
};

struct HtmlCell {
  Html content;
  std::string exact = {};   // what a pointer over the cell shows: the figure to the last digit
  std::size_t columns = 1;  // how many columns it takes
};

/// A table of the report, in a box of its own that scrolls where the screen is narrow.
class HtmlTable {
 public:
  HtmlTable(std::string caption, std::vector<HtmlColumn> columns);

  /// Rows from here on are of that group.
  void add_group(const Html& title);
  /// The cells of a row, from the left; the first one names it.
  void add_row(const std::vector<HtmlCell>& cells);
  bool has_rows() const { return has_rows_; }

  Html html() const;

 private:
  Html group_titles() const;

  std::string caption_;
  std::vector<HtmlColumn> columns_;
  std::vector<Html> bodies_;  // the rows of each group
  bool has_rows_ = false;
};

// Cells of figures. What was not measured is an empty cell.

/// "24.97 GiB".
std::string bytes_text(double bytes);

/// "24.97 GiB", and the exact bytes for the pointer.
HtmlCell bytes_cell(std::optional<double> bytes);

/// "12.3 ms", and the nanoseconds.
HtmlCell time_cell(std::optional<double> nanoseconds);

/// A figure with about four digits.
HtmlCell number_cell(std::optional<double> number);

/// The share of `part` in `whole`, in percent: "48.1".
HtmlCell share_cell(std::optional<double> part, std::optional<double> whole);

/// A signed difference in percent: "+0.1 %".
HtmlCell error_cell(std::optional<double> percent);

}  // namespace headroom
