// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections.h"
#include "src/results/holders.h"

namespace headroom {
namespace {

void add_holders(const CaseLine& line, HtmlTable& table) {
  const std::vector<Holder> holders = holders_of(*line.result);
  if (holders.empty()) return;
  table.add_group(name_html(line.result->name));
  for (const Holder& holder : holders) {
    const auto bytes = static_cast<double>(holder.bytes);
    table.add_row({{name_html(holder.kind)},
                   bytes_cell(bytes),
                   share_cell(bytes, peak_of(line.row())),
                   {std::to_string(holder.blocks)},
                   {element("code", name_html(holder.line))}});
  }
}

}  // namespace

Html holders_section(const std::vector<CaseGroup>& groups) {
  HtmlTable table(
      "What holds the peak, by line",
      {{"kind"}, {"held", true}, {"% of the peak", true}, {"blocks", true}, {"allocated at"}});
  for (const CaseGroup& group : groups) {
    for (const CaseLine& line : group.lines) add_holders(line, table);
  }
  if (!table.has_rows()) return {};
  return element("h3", "What holds the peak, by line") + table.html() +
         element("p", {{"class", "note"}},
                 "What is no parameter, gradient or optimizer state is named after who asked for "
                 "it. The line is the program's own; autograd's threads have none.");
}

}  // namespace headroom
