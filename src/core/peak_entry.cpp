// SPDX-License-Identifier: Apache-2.0
#include "src/core/peak_entry.h"

#include <nlohmann/json.hpp>

namespace headroom {

nlohmann::ordered_json PeakEntry::to_json() const {
  using Json = nlohmann::ordered_json;
  return Json::array({count, bytes, category, phase, block ? Json(*block) : Json(), op});
}

std::optional<PeakEntry> PeakEntry::from_json(const nlohmann::ordered_json& json) {
  if (!json.is_array() || json.size() < 3 || !json[0].is_number_integer() ||
      !json[1].is_number_integer() || !json[2].is_string()) {
    return std::nullopt;
  }
  PeakEntry entry{.count = json[0].get<std::int64_t>(),
                  .bytes = json[1].get<std::int64_t>(),
                  .category = json[2].get<std::string>(),
                  .phase = {},
                  .block = {},
                  .op = {}};
  if (entry.count < 0 || entry.bytes < 0) return std::nullopt;
  const auto text_at = [&](std::size_t i) {
    return json.size() > i && json[i].is_string() ? json[i].get<std::string>() : std::string();
  };
  entry.phase = text_at(3);
  if (json.size() > 4 && json[4].is_number_integer()) entry.block = json[4].get<std::int64_t>();
  entry.op = text_at(5);
  return entry;
}

}  // namespace headroom
