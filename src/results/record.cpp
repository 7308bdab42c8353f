// SPDX-License-Identifier: Apache-2.0
#include "src/results/record.h"

namespace headroom {

using Json = nlohmann::ordered_json;

Json columns_of(const Json& record) {
  return record.is_object() ? record.value("columns", Json::object()) : Json::object();
}

Json across_ranks(const Column& column, const Json& own, const std::vector<Json>& rank_records) {
  if (column.across_ranks == AcrossRanks::peak_rank) return own;
  const bool takes_largest = column.across_ranks == AcrossRanks::largest;
  Json result = own;
  for (const Json& record : rank_records) {
    const Json columns = columns_of(record);
    const auto value = columns.find(column.name);
    if (value == columns.end() || value->is_null()) continue;
    if (result.is_null() || (takes_largest ? result < *value : *value < result)) result = *value;
  }
  return result;
}

}  // namespace headroom
