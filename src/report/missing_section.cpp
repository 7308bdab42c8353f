// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/report/amounts.h"
#include "src/report/sections.h"

namespace headroom {

Html missing_section(const Results& results) {
  HtmlTable table("Cases that did not end as ok", {{"case"}, {"status"}, {"reason"}});
  for (const CaseResult& one : results.cases) {
    if (status_of(one.row) == Status::ok) continue;
    table.add_row({{name_html(one.name)},
                   {element("b", text_in(one.row, "status"))},
                   {text_in(one.row, "reason")}});
  }
  for (const std::string& name : results.not_done) {
    table.add_row({{name_html(name)}, {element("b", "not done")}, {""}});
  }
  return table.has_rows() ? element("h3", "Not ok, and why") + table.html() : Html();
}

}  // namespace headroom
