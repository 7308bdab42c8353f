// SPDX-License-Identifier: Apache-2.0
#include "src/report/html_table.h"

#include <utility>

namespace headroom {
namespace {

Attributes with_class(bool is_number) {
  return is_number ? Attributes{{"class", "number"}} : Attributes{};
}

}  // namespace

HtmlTable::HtmlTable(std::string caption, std::vector<HtmlColumn> columns)
    : caption_(std::move(caption)), columns_(std::move(columns)) {}

void HtmlTable::add_group(const Html& title) {
  const Html head =
      element("th", {{"scope", "rowgroup"}, {"colspan", std::to_string(columns_.size())}}, title);
  bodies_.push_back(element("tr", {{"class", "group"}}, head));
}

void HtmlTable::add_row(const std::vector<HtmlCell>& cells) {
  Html row;
  std::size_t column = 0;
  for (const HtmlCell& cell : cells) {
    const bool is_head = column == 0;
    Attributes attributes = with_class(columns_[column].is_number && cell.columns == 1);
    if (is_head) attributes.emplace_back("scope", "row");
    if (!cell.exact.empty()) attributes.emplace_back("title", cell.exact);
    if (cell.columns > 1) attributes.emplace_back("colspan", std::to_string(cell.columns));
    row += element(is_head ? "th" : "td", attributes, cell.content);
    column += cell.columns;
  }
  if (bodies_.empty()) bodies_.emplace_back();
  bodies_.back() += element("tr", row) + Html::trusted("\n");
  has_rows_ = true;
}

Html HtmlTable::group_titles() const {
  Html titles;
  bool has_one = false;
  for (std::size_t begin = 0, end = 0; begin < columns_.size(); begin = end) {
    const std::string& group = columns_[begin].group;
    while (end < columns_.size() && columns_[end].group == group) ++end;
    const std::string width = std::to_string(end - begin);
    titles += group.empty() ? element("td", {{"colspan", width}}, {})
                            : element("th", {{"scope", "colgroup"}, {"colspan", width}}, group);
    has_one = has_one || !group.empty();
  }
  return has_one ? element("tr", {{"class", "over"}}, titles) : Html();
}

Html HtmlTable::html() const {
  Html titles;
  for (const HtmlColumn& column : columns_) {
    Attributes attributes = with_class(column.is_number);
    attributes.emplace_back("scope", "col");
    titles += element("th", attributes, column.title);
  }
  Html content =
      element("caption", caption_) + element("thead", group_titles() + element("tr", titles));
  for (const Html& body : bodies_) content += element("tbody", body);
  return element(
      "div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", caption_}},
      element("table", content));
}

}  // namespace headroom
