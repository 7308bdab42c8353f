// SPDX-License-Identifier: Apache-2.0
#include "src/core/json_difference.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Equal whatever the order of the members.
bool are_equal(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

void add_differences(const std::string& path, const Json& old_value, const Json& new_value,
                     std::vector<JsonDifference>& list) {
  if (!old_value.is_object() || !new_value.is_object()) {
    if (!are_equal(old_value, new_value)) list.push_back({path, old_value, new_value});
    return;
  }
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [name, value] : old_value.items()) {
    const auto other = new_value.find(name);
    if (other == new_value.end()) {
      list.push_back({prefix + name, value, Json(), false});
    } else {
      add_differences(prefix + name, value, *other, list);
    }
  }
  for (const auto& [name, value] : new_value.items()) {
    if (!old_value.contains(name)) list.push_back({prefix + name, Json(), value, false});
  }
}

}  // namespace

std::string JsonDifference::text() const {
  const auto side = [&](const Json& value) {
    return !is_in_both && value.is_null() ? "missing" : value.dump();
  };
  return (path.empty() ? "it" : path) + " was " + side(old_value) + " and is " + side(new_value);
}

std::vector<JsonDifference> differences(const Json& old_document, const Json& new_document) {
  std::vector<JsonDifference> list;
  add_differences("", old_document, new_document, list);
  return list;
}

}  // namespace headroom
