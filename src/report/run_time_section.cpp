// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "src/core/json.h"
#include "src/report/sections.h"
#include "src/results/columns.h"

namespace headroom {

Html run_time_section(const Results& results) {
  HtmlTable table("Published run times",
                  {{"case"},
                   {"run, min", true},
                   {"updates", true},
                   {"an update", true},
                   {results.header["kind"] == "planned" ? "estimate" : "step", true},
                   {"of it, %", true}});
  for (const CaseResult& result : results.cases) {
    const auto step = step_of_published(result.row);
    if (!step) continue;
    table.add_row({{name_html(result.name)},
                   number_cell(*number_in(result.row, column::published_run_time_s) / 60),
                   {cell_text(member(result.row, column::published_updates))},
                   time_cell(step->published_ns),
                   time_cell(step->own_ns),
                   share_cell(step->own_ns, step->published_ns)});
  }
  if (!table.has_rows()) return {};
  return element("h3", "Published run times") + table.html() +
         element(
             "p", {{"class", "note"}},
             "An update of the published run is its time by its updates, with all that it did "
             "beside them, as loading and an evaluation. A plan's estimate is of the step alone; "
             "of plans before there were any, the lower bound stands there.");
}

}  // namespace headroom
