// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/report/html.h"

namespace headroom {

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

}  // namespace headroom
