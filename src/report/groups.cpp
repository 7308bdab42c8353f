// SPDX-License-Identifier: Apache-2.0
#include "src/report/groups.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// All fields of a case but its techniques.
std::string fields_of(const CaseResult& result) {
  Json fields = result.work;
  if (fields.is_object()) fields.erase("techniques");
  return fields.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string title_of(const Row& row) {
  const std::int64_t ranks = ranks_of(row);
  return text_in(row, "model") + (ranks == 1 ? "" : fmt::format(" on {} ranks", ranks));
}

void fill_references(Group& group) {
  std::map<std::string, const CaseResult*> plain;  // by their fields
  for (const Line& line : group.lines) {
    if (is_plain(line.row()) && peak_of(line.row())) {
      plain.try_emplace(fields_of(*line.result), line.result);
    }
  }
  const CaseResult* before = nullptr;
  const CaseResult* plain_above = nullptr;
  for (Line& line : group.lines) {
    line.before = before;
    if (!is_plain(line.row())) {
      const auto same = plain.find(fields_of(*line.result));
      line.plain = same == plain.end() ? plain_above : same->second;
    }
    if (!peak_of(line.row())) continue;
    before = line.result;
    if (is_plain(line.row())) plain_above = line.result;
  }
}

}  // namespace

std::optional<double> peak_of(const Row& row) { return number_in(row, "run_peak_allocated_bytes"); }

std::vector<Group> group_cases(const std::vector<CaseResult>& cases) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> known;
  for (const CaseResult& one : cases) {
    const auto [place, is_new] =
        known.try_emplace({text_in(one.row, "model"), ranks_of(one.row)}, groups.size());
    if (is_new) groups.push_back({title_of(one.row), {}});
    groups[place->second].lines.push_back({&one});
  }
  std::size_t number = 0;
  for (Group& group : groups) {
    for (Line& line : group.lines) line.number = ++number;
    fill_references(group);
  }
  return groups;
}

}  // namespace headroom
