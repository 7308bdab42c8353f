// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "src/report/amounts.h"
#include "src/report/sections.h"
#include "src/report/svg.h"
#include "src/results/record.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

double largest_peak(const CaseResult& one) {
  double largest = 0;
  for (const Json& record : one.rank_records) {
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

void add_ranks(const CaseResult& one, HtmlTable& table) {
  table.add_group(name_html(one.name));
  const double largest = largest_peak(one);
  const auto peak_rank = number_in(one.row, "peak_rank");
  for (std::size_t rank = 0; rank < one.rank_records.size(); ++rank) {
    const Json& record = one.rank_records[rank];
    const Row row = columns_of(record);
    const auto peak = peak_of(row);
    const bool is_peak = peak_rank && static_cast<double>(rank) == *peak_rank;
    Html ended = record.is_object() ? text_in(record, "status") : "";
    if (is_peak) ended += element("b", ", the peak rank");
    table.add_row({{fmt::format("rank {}", rank)},
                   bytes_cell(peak),
                   share_cell(peak, largest),
                   bar_cell(peak, largest),
                   time_cell(number_in(row, "step_time_median_ns")),
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
  for (const CaseResult& one : results.cases) {
    if (!one.rank_records.empty()) add_ranks(one, table);
  }
  if (!table.has_rows()) return {};
  return element("h3", "Ranks") + table.html() +
         element("p", {{"class", "note"}},
                 "A case's row has the memory of its peak rank. There is no sum and no mean over "
                 "ranks.");
}

}  // namespace headroom
