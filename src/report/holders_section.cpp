// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <nlohmann/json.hpp>

#include "src/core/json.h"
#include "src/report/sections.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Of the processes of a program, the one whose figures stand in its row; null: there is none of
/// which it is known what holds the peak.
const Json& holders_of(const CaseResult& result) {
  static const Json kNone;
  const auto peak = peak_of(result.row);
  for (const Json& process : member(result.record, "processes")) {
    const Json& bytes = member(process, "peak_allocated_bytes");
    const bool is_it = peak && bytes.is_number() && bytes.get<double>() == *peak;
    if (is_it && member(process, "holders").is_array()) return process["holders"];
  }
  return kNone;
}

void add_holders(const CaseLine& line, HtmlTable& table) {
  const Json& holders = holders_of(*line.result);
  if (!holders.is_array()) return;
  table.add_group(name_html(line.result->name));
  for (const Json& holder : holders) {
    const Json& kind = member(holder, "kind");
    const Json& bytes = member(holder, "bytes");
    const Json& blocks = member(holder, "blocks");
    const Json& place = member(holder, "line");
    if (!kind.is_string() || !bytes.is_number() || !blocks.is_number_integer() ||
        !place.is_string()) {
      continue;
    }
    table.add_row({{name_html(kind.get<std::string>())},
                   bytes_cell(bytes.get<double>()),
                   share_cell(bytes.get<double>(), peak_of(line.row())),
                   {std::to_string(blocks.get<std::int64_t>())},
                   {element("code", name_html(place.get<std::string>()))}});
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
