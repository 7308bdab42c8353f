// SPDX-License-Identifier: Apache-2.0
#include "src/suite/case.h"

namespace headroom {

using Json = nlohmann::ordered_json;

Json Case::to_json() const {
  Json json{{"name", name}};
  json.update(work());
  return json;
}

Json Case::work() const {
  Json json = fields;
  json["techniques"] = techniques;
  return json;
}

const Json* Case::find(std::string_view path) const {
  const Json* value = &fields;
  while (true) {
    const std::size_t dot = path.find('.');
    if (!value->is_object()) return nullptr;
    const auto found = value->find(path.substr(0, dot));
    if (found == value->end()) return nullptr;
    value = &*found;
    if (dot == std::string_view::npos) return value;
    path.remove_prefix(dot + 1);
  }
}

std::int64_t Case::ranks() const {
  const Json* ranks = find("ranks");
  return ranks == nullptr ? 1 : ranks->get<std::int64_t>();
}

std::string technique_names(const Json& techniques) {
  std::string names;
  for (const Json& technique : techniques) {
    const auto name = technique.find("name");
    const bool has_one = name != technique.end() && name->is_string();
    names += (names.empty() ? "" : "+") + (has_one ? name->get<std::string>() : "");
  }
  return techniques.empty() ? kNoTechniques : names;
}

}  // namespace headroom
