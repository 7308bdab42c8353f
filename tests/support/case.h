// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace headroom {

using Json = nlohmann::ordered_json;

/// A technique as a case lists it: {"name": name, options...}.
inline Json technique(const std::string& name, const Json& options = Json::object()) {
  Json result = {{"name", name}};
  result.update(options);
  return result;
}

/// The case with those techniques behind its own.
inline Json with(Json values, std::initializer_list<Json> techniques) {
  for (const Json& each : techniques) values["techniques"].push_back(each);
  return values;
}

}  // namespace headroom
