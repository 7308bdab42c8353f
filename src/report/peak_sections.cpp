// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/report/sections.h"
#include "src/report/svg.h"
#include "src/results/columns.h"
#include "src/results/row.h"

namespace headroom {

// What the peak is made of.
namespace {

constexpr double kLineHeight = 37;
constexpr double kBarTop = 17;
constexpr double kBarHeight = 14;
constexpr double kPercentForName = 16;  // of the width: a name has room on the narrowest screen
constexpr std::size_t kMaxNameCharacters = 44;

/// A category for people: "optimizer state".
std::string title_of(const PeakCategory& part) {
  std::string title(part.name);
  std::ranges::replace(title, '_', ' ');
  return title;
}

/// Its class in report.css, which has the colour and the pattern: the last word of its name.
std::string style_of(const PeakCategory& part) {
  return std::string(part.name.substr(part.name.rfind('_') + 1));
}

double part_of(const Row& row, const PeakCategory& part) {
  return number_in(row, part.column).value_or(0);
}

double largest_peak(const CaseGroup& group) {
  double largest = 0;
  for (const CaseLine& line : group.lines) {
    largest = std::max(largest, peak_of(line.row()).value_or(0));
  }
  return largest;
}

Html bar(const Row& row, double largest, double top) {
  Html parts;
  double x = 0;
  for (const PeakCategory& part : kPeakCategories) {
    const double bytes = part_of(row, part);
    if (bytes <= 0) continue;
    const double width = 100 * bytes / largest;
    const std::string tip =
        fmt::format("{}: {} ({:.0f} bytes)", title_of(part), bytes_text(bytes), bytes);
    parts += svg_rectangle("part " + style_of(part), {x, top + kBarTop, width, kBarHeight}, tip);
    if (width >= kPercentForName) {
      parts += svg_text("inside on-" + style_of(part), x, top + kBarTop + 11, title_of(part),
                        Anchor::start, 6);
    }
    x += width;
  }
  return parts;
}

/// "24.51 GiB", and of a case with techniques its share of the plain case.
std::string amount_text(const CaseLine& line) {
  const auto peak = peak_of(line.row());
  if (!peak) return text_in(line.row(), column::status);
  const auto plain = line.plain == nullptr ? std::nullopt : peak_of(line.plain->row);
  if (!plain || *plain == 0) return bytes_text(*peak);
  return fmt::format("{}, {:.0f} %", bytes_text(*peak), 100 * *peak / *plain);
}

Html bars(const CaseGroup& group, double largest) {
  Html parts;
  double top = 0;
  for (const CaseLine& line : group.lines) {
    const std::string name = fmt::format("{}  {}", line.number, line.result->name);
    parts += svg_text("name", 0, top + 13, shortened(name, kMaxNameCharacters));
    parts += svg_text("amount", 100, top + 13, amount_text(line), Anchor::end);
    parts += bar(line.row(), largest, top);
    top += kLineHeight;
  }
  return svg_figure("bars", top, "Peak memory of " + group.title + " by category",
                    "A bar for each case, cut into what the memory at its peak was for. The table "
                    "below has the same figures.",
                    parts);
}

bool has_part(const CaseGroup& group, const PeakCategory& part) {
  return std::ranges::any_of(group.lines,
                             [&](const CaseLine& line) { return part_of(line.row(), part) > 0; });
}

Html legend(const CaseGroup& group) {
  Html items;
  for (const PeakCategory& part : kPeakCategories) {
    if (!has_part(group, part)) continue;
    const Html swatch = element("svg", {{"width", "14"}, {"height", "12"}, {"aria-hidden", "true"}},
                                svg_rectangle("part " + style_of(part), {0, 0, 100, 12}));
    items += element("li", swatch + title_of(part));
  }
  return element("ul", {{"class", "legend"}}, items);
}

Html table(const CaseGroup& group) {
  std::vector<HtmlColumn> columns = {{"case"}};
  for (const PeakCategory& part : kPeakCategories) {
    if (has_part(group, part)) columns.push_back({title_of(part), true});
  }
  columns.push_back({"sum: the peak", true});
  HtmlTable table("Bytes at the peak of " + group.title, columns);
  for (const CaseLine& line : group.lines) {
    if (!peak_of(line.row())) continue;
    std::vector<HtmlCell> cells = {{name_html(line.result->name)}};
    for (const PeakCategory& part : kPeakCategories) {
      if (has_part(group, part))
        cells.push_back({fmt::format("{:.0f}", part_of(line.row(), part))});
    }
    cells.push_back({fmt::format("{:.0f}", *peak_of(line.row()))});
    table.add_row(cells);
  }
  return element("details", element("summary", "The same as a table, in bytes") + table.html());
}

Html peak_figure(const CaseGroup& group) {
  const double largest = largest_peak(group);
  const auto is_there = [&](const PeakCategory& part) { return has_part(group, part); };
  // Of somebody's program no part is known.
  if (largest <= 0 || std::ranges::none_of(kPeakCategories, is_there)) return {};
  const Html caption = element("figcaption", name_html(group.title));
  return element("figure", caption + legend(group) + bars(group, largest)) + table(group);
}

}  // namespace

Html peak_section(const std::vector<CaseGroup>& groups) {
  return figures_section(
      "What the peak is made of",
      "Every byte that was allocated at the peak of the run, by what it was for. Percent "
      "are of the plain case's peak.",
      groups, &peak_figure);
}

// The peak of each rank.
namespace {

using Json = nlohmann::ordered_json;

double largest_peak_of_ranks(const CaseResult& result) {
  double largest = 0;
  for (const Json& record : result.rank_records) {
    largest = std::max(largest, peak_of(columns_of(record)).value_or(0));
  }
  return largest;
}

/// The peak as a bar, of the largest among the ranks.
HtmlCell bar_cell(std::optional<double> peak, double largest) {
  if (!peak || largest <= 0) return {};
  return {element("svg",
                  {{"class", "rank"}, {"width", "100%"}, {"height", "10"}, {"aria-hidden", "true"}},
                  svg_rectangle("area", {0, 0, 100 * *peak / largest, 10}))};
}

void add_ranks(const CaseResult& result, HtmlTable& table) {
  table.add_group(name_html(result.name));
  const double largest = largest_peak_of_ranks(result);
  const auto peak_rank = number_in(result.row, column::peak_rank);
  for (std::size_t rank = 0; rank < result.rank_records.size(); ++rank) {
    const Json& record = result.rank_records[rank];
    const Row row = columns_of(record);
    const auto peak = peak_of(row);
    const bool is_peak = peak_rank && static_cast<double>(rank) == *peak_rank;
    Html ended = record.is_object() ? text_in(record, "status") : "";
    if (is_peak) ended += element("b", ", the peak rank");
    table.add_row({{fmt::format("rank {}", rank)},
                   bytes_cell(peak),
                   share_cell(peak, largest),
                   bar_cell(peak, largest),
                   time_cell(number_in(row, column::step_time_median_ns)),
                   {ended}});
  }
}

}  // namespace

Html ranks_section(const Results& results) {
  HtmlTable table("Peak of each rank", {{"rank"},
                                        {"peak allocated", true},
                                        {"% of the largest", true},
                                        {""},
                                        {"step", true},
                                        {"ended"}});
  for (const CaseResult& result : results.cases) {
    if (!result.rank_records.empty()) add_ranks(result, table);
  }
  if (!table.has_rows()) return {};
  return element("h3", "Ranks") + table.html() +
         element("p", {{"class", "note"}},
                 "A case's row has the memory of its peak rank. There is no sum and no mean over "
                 "ranks.");
}

}  // namespace headroom
