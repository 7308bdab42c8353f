// SPDX-License-Identifier: Apache-2.0
#include "src/suite/effective.h"

#include "src/suite/schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// JSON on one line, with the spaces that YAML wants. Texts are quoted, so none reads as a number.
std::string flow(const Json& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += Json(key).dump() + ": ";
    text += flow(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// One line "key: value".
std::string line(int indent, const std::string& key, const Json& value) {
  return std::string(static_cast<std::size_t>(indent), ' ').append(key).append(": ") + flow(value) +
         "\n";
}

Json techniques_as_written(const Json& techniques) {
  Json list = Json::array();
  for (Json technique : techniques) {
    const auto name = technique["name"].get<std::string>();
    technique.erase("name");
    list.push_back(technique.empty() ? Json(name) : Json::object({{name, technique}}));
  }
  return list;
}

std::string write_case(const CaseEntry& entry, const Catalog& catalog) {
  std::string text = line(2, "- name", entry.name);
  if (!entry.techniques.empty()) {
    text += line(4, "techniques", techniques_as_written(entry.techniques));
  }
  if (!entry.published.empty()) text += line(4, "published", entry.published);
  const Json given = read_values(entry.fields, catalog.case_fields, "");
  for (const auto& [key, value] : given.items()) text += line(4, key, value);
  return text;
}

std::string write_matrix(const std::vector<Axis>& matrix, const Catalog& catalog) {
  std::string text = matrix.empty() ? "" : "matrix:\n";
  for (const Axis& axis : matrix) {
    Json values = Json::array();
    for (const Node& value : axis.values) {
      values.push_back(read_value(value, *catalog.find_case_field(axis.path), axis.path));
    }
    text += line(2, axis.path, values);
  }
  return text;
}

std::string write_set(const std::vector<Override>& overrides, const Catalog& catalog) {
  std::string text = overrides.empty() ? "" : "set:\n";
  for (const Override& entry : overrides) {
    text += line(2, entry.path,
                 read_value(entry.value, *catalog.find_case_field(entry.path), entry.path));
  }
  return text;
}

}  // namespace

std::string write_effective_suite(const SuiteFile& file, const Catalog& catalog) {
  std::string text = line(0, "suite", file.name);
  if (!file.source.empty()) text += line(0, "source", file.source);
  if (!file.gpu.empty()) text += line(0, "gpu", file.gpu);
  Json defaults = Json::object();
  merge_layer(defaults, file.defaults, catalog.case_fields, "");
  text += "defaults:\n";
  defaults = fill_defaults(defaults, catalog.case_fields);
  for (const auto& [key, value] : defaults.items()) text += line(2, key, value);
  text += "cases:\n";
  for (const CaseEntry& entry : file.cases) text += write_case(entry, catalog);
  return text + write_matrix(file.matrix, catalog) + write_set(file.overrides, catalog);
}

}  // namespace headroom
