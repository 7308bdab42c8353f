// SPDX-License-Identifier: Apache-2.0
// Results as JSON Lines: all that the journal has of a case, under names.
#include <array>
#include <string_view>

#include "src/core/json.h"
#include "src/report/export.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// The members of the lists that a record holds by place: docs/protocol.md.
constexpr std::array kTensor = {"count", "bytes", "category", "phase", "block", "operator"};
constexpr std::array kStep = {"phase", "block", "bytes"};

/// A list of lists as a list of objects. What is none stays as it is.
template <std::size_t size>
Json named(const Json& list, const std::array<const char*, size>& names) {
  Json result = Json::array();
  for (const Json& values : list) {
    if (!values.is_array() || values.size() != size) return list;
    Json object = Json::object();
    for (std::size_t i = 0; i < size; ++i) object[names[i]] = values[i];
    result.push_back(std::move(object));
  }
  return result;
}

/// A worker's record without what the row has of it.
Json details_of(const Json& record) {
  Json details = Json::object();
  if (!record.is_object()) return details;
  for (const auto& [name, value] : record.items()) {
    if (name == "status" || name == "reason" || name == "columns") continue;
    details[name] = name == "peak_tensors"  ? named(value, kTensor)
                    : name == "step_memory" ? named(value, kStep)
                                            : value;
  }
  return details;
}

Json line_of(const CaseResult& one) {
  Json line = one.row;
  line["work"] = one.work;
  line["environment"] = one.environment;
  line.update(details_of(one.record));
  if (one.rank_records.empty()) return line;
  line["rank_records"] = Json::array();
  for (const Json& record : one.rank_records) {
    Json rank = details_of(record);
    rank["status"] = member(record, "status");
    rank["columns"] = member(record, "columns");
    line["rank_records"].push_back(std::move(rank));
  }
  return line;
}

}  // namespace

std::string jsonl_export(const std::vector<Results>& all) {
  std::string text;
  for (const Results& results : all) {
    for (const CaseResult& one : results.cases) {
      text += line_of(one).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  }
  return text;
}

}  // namespace headroom
