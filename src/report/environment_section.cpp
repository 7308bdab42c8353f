// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "src/report/html_table.h"
#include "src/report/sections.h"

namespace headroom {
namespace {

constexpr std::size_t kMostShown = 8;

struct Fact {
  const char* title;
  const char* column;
};

constexpr std::array kFacts = {
    Fact{"device", "device"},
    Fact{"device's name", "device_name"},
    Fact{"GPU's UUID", "gpu_uuid"},
    Fact{"processor", "cpu"},
    Fact{"CUDA driver", "driver"},
    Fact{"CUDA of LibTorch", "cuda"},
    Fact{"LibTorch", "libtorch"},
    Fact{"commit of headroom", "commit"},
    Fact{"hash of the environment", "environment_hash"},
};

std::set<std::string> values_of(const Results& results, const char* column) {
  std::set<std::string> values;
  for (const CaseResult& one : results.cases) values.insert(text_in(one.row, column));
  values.erase("");
  return values;
}

Html list_of(const std::set<std::string>& values) {
  Html list;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (shown == kMostShown) break;
    list += (shown == 0 ? Html() : Html(", ")) + name_html(value);
    ++shown;
  }
  const std::size_t more = values.size() - shown;
  return more == 0 ? list : list + (" and " + std::to_string(more) + " more");
}

}  // namespace

Html environment_section(const Results& results) {
  HtmlTable table("Where these figures were made", {{"what"}, {"value"}});
  for (const Fact& fact : kFacts) {
    const auto values = values_of(results, fact.column);
    if (!values.empty()) table.add_row({{fact.title}, {list_of(values)}});
  }
  const auto times = values_of(results, "started_at");  // ISO 8601, so in the order of time
  if (!times.empty()) {
    const Html last = times.size() == 1 ? Html() : " to " + name_html(*times.rbegin());
    table.add_row({{"cases started"}, {name_html(*times.begin()) + last}});
  }
  return table.has_rows() ? element("h3", "Environment") + table.html() : Html();
}

}  // namespace headroom
