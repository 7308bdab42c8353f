// SPDX-License-Identifier: Apache-2.0
#include "src/report/peak_figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/amounts.h"
#include "src/report/peak_parts.h"
#include "src/report/svg.h"

namespace headroom {
namespace {

constexpr double kLineHeight = 37;
constexpr double kBarTop = 17;
constexpr double kBarHeight = 14;
constexpr double kPercentForText = 16;  // of the width: a name has room on the narrowest screen
constexpr std::size_t kMostCharacters = 44;

double part_of(const Row& row, const PeakPart& part) {
  return number_in(row, part.column).value_or(0);
}

double largest_peak(const Group& group) {
  double largest = 0;
  for (const Line& line : group.lines) {
    largest = std::max(largest, peak_of(line.row()).value_or(0));
  }
  return largest;
}

Html bar(const Row& row, double largest, double top) {
  Html parts;
  double x = 0;
  for (const PeakPart& part : kPeakParts) {
    const double bytes = part_of(row, part);
    if (bytes <= 0) continue;
    const double width = 100 * bytes / largest;
    const std::string tip =
        fmt::format("{}: {} ({:.0f} bytes)", part.name, bytes_text(bytes), bytes);
    parts += svg_rectangle(std::string("part ") + part.style, {x, top + kBarTop, width, kBarHeight},
                           tip);
    if (width >= kPercentForText) {
      parts += svg_text(std::string("inside on-") + part.style, x, top + kBarTop + 11, part.name,
                        Anchor::start, 6);
    }
    x += width;
  }
  return parts;
}

/// "24.51 GiB", and of a case with techniques its share of the plain case.
std::string amount_text(const Line& line) {
  const auto peak = peak_of(line.row());
  if (!peak) return text_in(line.row(), "status");
  const auto plain = line.plain == nullptr ? std::nullopt : peak_of(line.plain->row);
  if (!plain || *plain == 0) return bytes_text(*peak);
  return fmt::format("{}, {:.0f} %", bytes_text(*peak), 100 * *peak / *plain);
}

Html bars(const Group& group, double largest) {
  Html parts;
  double top = 0;
  for (const Line& line : group.lines) {
    const std::string name = fmt::format("{}  {}", line.number, line.result->name);
    parts += svg_text("name", 0, top + 13, shortened(name, kMostCharacters));
    parts += svg_text("amount", 100, top + 13, amount_text(line), Anchor::end);
    parts += bar(line.row(), largest, top);
    top += kLineHeight;
  }
  return svg_figure("bars", top, "Peak memory of " + group.title + " by category",
                    "A bar for each case, cut into what the memory at its peak was for. The table "
                    "below has the same figures.",
                    parts);
}

bool has_part(const Group& group, const PeakPart& part) {
  return std::ranges::any_of(group.lines,
                             [&](const Line& line) { return part_of(line.row(), part) > 0; });
}

Html legend(const Group& group) {
  Html items;
  for (const PeakPart& part : kPeakParts) {
    if (!has_part(group, part)) continue;
    const Html swatch = element("svg", {{"width", "14"}, {"height", "12"}, {"aria-hidden", "true"}},
                                svg_rectangle(std::string("part ") + part.style, {0, 0, 100, 12}));
    items += element("li", swatch + part.name);
  }
  return element("ul", {{"class", "legend"}}, items);
}

Html table(const Group& group) {
  std::vector<HtmlColumn> columns = {{"case"}};
  for (const PeakPart& part : kPeakParts) {
    if (has_part(group, part)) columns.push_back({part.name, true});
  }
  columns.push_back({"sum: the peak", true});
  HtmlTable table("Bytes at the peak of " + group.title, columns);
  for (const Line& line : group.lines) {
    if (!peak_of(line.row())) continue;
    std::vector<HtmlCell> cells = {{name_html(line.result->name)}};
    for (const PeakPart& part : kPeakParts) {
      if (has_part(group, part))
        cells.push_back({fmt::format("{:.0f}", part_of(line.row(), part))});
    }
    cells.push_back({fmt::format("{:.0f}", *peak_of(line.row()))});
    table.add_row(cells);
  }
  return element("details", element("summary", "The same as a table, in bytes") + table.html());
}

}  // namespace

Html peak_figure(const Group& group) {
  const double largest = largest_peak(group);
  if (largest <= 0) return {};
  const Html caption = element("figcaption", name_html(group.title));
  return element("figure", caption + legend(group) + bars(group, largest)) + table(group);
}

}  // namespace headroom
