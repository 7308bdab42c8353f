// SPDX-License-Identifier: Apache-2.0
#include "src/report/html.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "src/core/text.h"

namespace headroom {
namespace {

std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::string_view bytes = text.substr(0, point.bytes == 0 ? 1 : point.bytes);
    text.remove_prefix(bytes.size());
    if (point.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    } else if (must_be_escaped(point.value)) {
      result += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(point.value));
    } else if (const std::string_view entity = entity_of(bytes.front()); !entity.empty()) {
      result += entity;
    } else {
      result += bytes;
    }
  }
  return result;
}

std::string opening(std::string_view tag, const Attributes& attributes) {
  std::string result = "<" + std::string(tag);
  for (const auto& [name, value] : attributes) {
    result += " " + std::string(name) + "=\"" + escape(value) + "\"";
  }
  return result;
}

Attributes with_class(bool is_number) {
  return is_number ? Attributes{{"class", "number"}} : Attributes{};
}

}  // namespace

Html::Html(std::string_view text) : markup_(escape(text)) {}

Html Html::trusted(std::string_view markup) {
  Html result;
  result.markup_ = markup;
  return result;
}

Html& Html::operator+=(const Html& more) {
  markup_ += more.markup_;
  return *this;
}

Html element(std::string_view tag, const Attributes& attributes, const Html& content) {
  return Html::trusted(opening(tag, attributes) + ">" + content.markup() + "</" + std::string(tag) +
                       ">");
}

Html element(std::string_view tag, const Html& content) { return element(tag, {}, content); }

Html empty_element(std::string_view tag, const Attributes& attributes) {
  return Html::trusted(opening(tag, attributes) + "/>");
}

Html name_html(const std::string& name) { return element("bdi", name); }

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

std::string bytes_text(double bytes) { return format_bytes(std::llround(bytes)); }

HtmlCell bytes_cell(std::optional<double> bytes) {
  if (!bytes) return {};
  return {bytes_text(*bytes), fmt::format("{} bytes", std::llround(*bytes))};
}

HtmlCell time_cell(std::optional<double> nanoseconds) {
  if (!nanoseconds) return {};
  return {fmt::format("{:.1f} ms", *nanoseconds / 1e6),
          fmt::format("{} ns", std::llround(*nanoseconds))};
}

HtmlCell number_cell(std::optional<double> number) {
  if (!number) return {};
  const int decimals = std::abs(*number) >= 1000 ? 0 : std::abs(*number) >= 10 ? 1 : 3;
  return {fmt::format("{:.{}f}", *number, decimals), fmt::format("{}", *number)};
}

HtmlCell share_cell(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || *whole == 0) return {};
  return {fmt::format("{:.1f}", 100 * *part / *whole)};
}

HtmlCell error_cell(std::optional<double> percent) {
  if (!percent) return {};
  return {fmt::format("{:+.1f} %", *percent)};
}

}  // namespace headroom
