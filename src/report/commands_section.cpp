// SPDX-License-Identifier: Apache-2.0
#include "src/report/html_table.h"
#include "src/report/rerun.h"
#include "src/report/sections.h"

namespace headroom {

Html commands_section(const Results& results, const std::vector<Group>& groups) {
  HtmlTable table("The call that makes each row again", {{"case"}, {"call"}});
  for (const Group& group : groups) {
    for (const Line& line : group.lines) {
      table.add_row({{name_html(line.result->name)},
                     {element("code", rerun_command(results, *line.result))}});
    }
  }
  return table.has_rows() ? element("h3", "Make a row again") + table.html() : Html();
}

}  // namespace headroom
