// SPDX-License-Identifier: Apache-2.0
#include "src/suite/suite_file.h"

#include <algorithm>
#include <unordered_set>

#include "src/core/error.h"
#include "src/core/table.h"
#include "src/core/text.h"
#include "src/gpus/gpu.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

void check_keys(const Node& map, const std::vector<std::string>& allowed,
                const std::string& where) {
  for (const Member& member : map.members) {
    if (std::find(allowed.begin(), allowed.end(), member.key) != allowed.end()) continue;
    throw ConfigError(member.place, "unknown key '" + member.key + "' in " + where + "; " +
                                        allowed_names(member.key, allowed));
  }
}

const Node& required_key(const Node& map, const std::string& key, const std::string& where) {
  const Node* value = map.find(key);
  if (value == nullptr) throw ConfigError(map.place, where + " lacks '" + key + "'");
  return *value;
}

std::string read_name(const Node& node, const std::string& what) {
  expect(node, Node::Kind::scalar, what);
  if (is_name(node.text)) return node.text;
  throw ConfigError(node.place, what + " is " + describe(node) + "; allowed: " + kNameRule);
}

/// A list with at least one item.
const Node& expect_items(const Node& node, const std::string& what) {
  expect(node, Node::Kind::list, what);
  if (node.items.empty()) throw ConfigError(node.place, what + " is empty; give at least one");
  return node;
}

Json read_technique(const Node& item, const Catalog& catalog) {
  const bool single = item.kind == Node::Kind::map && item.members.size() == 1;
  if (item.kind != Node::Kind::scalar && !single) {
    throw ConfigError(item.place, "a technique is " + describe(item) +
                                      "; allowed: a name, or {name: {option: value}}");
  }
  const std::string name = single ? item.members[0].key : item.text;
  const TechniqueInfo* technique = catalog.find_technique(name);
  if (technique == nullptr) {
    throw ConfigError(item.place, "unknown technique '" + name + "'; " +
                                      allowed_names(name, names_of(catalog.techniques)));
  }
  Json options = Json::object();
  const std::string path = "techniques." + name;
  if (single) merge_layer(options, item.members[0].value, technique->fields, path);
  check_required(options, technique->fields, item.place, path);
  Json complete{{"name", name}};
  complete.update(fill_defaults(options, technique->fields));
  return complete;
}

Json read_techniques(const Node* node, const Catalog& catalog) {
  Json techniques = Json::array();
  if (node == nullptr) return techniques;
  std::unordered_set<std::string> seen;
  for (const Node& item : expect(*node, Node::Kind::list, "techniques").items) {
    techniques.push_back(read_technique(item, catalog));
    const auto name = techniques.back()["name"].get<std::string>();
    if (!seen.insert(name).second) {
      throw ConfigError(item.place, "the technique '" + name + "' stands twice in this case");
    }
  }
  return techniques;
}

/// What a published figure must be: as the column that holds it.
Field published_field(const std::string& key, const Catalog& catalog) {
  const Column* column = catalog.find_column(std::string(kPublishedPrefix) + key);
  Field field;
  field.name = key;
  field.type = column->type == ColumnType::integer  ? FieldType::integer
               : column->type == ColumnType::number ? FieldType::number
                                                    : FieldType::text;
  return field;
}

Json read_published(const Node* node, const Catalog& catalog) {
  Json published = Json::object();
  if (node == nullptr) return published;
  expect(*node, Node::Kind::map, "published");
  check_keys(*node, published_keys(catalog), "published");
  for (const Member& member : node->members) {
    published[member.key] =
        read_value(member.value, published_field(member.key, catalog), "published." + member.key);
  }
  return published;
}

/// What a map says of the fields of cases; its other keys are checked by then.
Node fields_in(const Node& node, const Catalog& catalog) {
  Node fields;
  fields.kind = Node::Kind::map;
  fields.place = node.place;
  for (const Member& member : node.members) {
    if (find_field(catalog.case_fields, member.key) != nullptr) fields.members.push_back(member);
  }
  return fields;
}

CaseEntry read_case(const Node& node, const Catalog& catalog) {
  expect(node, Node::Kind::map, "a case");
  std::vector<std::string> allowed = names_of(catalog.case_fields);
  allowed.insert(allowed.begin(), {"name", "techniques", "published"});
  check_keys(node, allowed, "a case");
  return {.name = read_name(required_key(node, "name", "the case"), "the case's name"),
          .place = node.place,
          .techniques = read_techniques(node.find("techniques"), catalog),
          .published = read_published(node.find("published"), catalog),
          .fields = fields_in(node, catalog)};
}

std::vector<Group> read_groups(const Node& node, const Catalog& catalog) {
  std::vector<Group> groups;
  std::unordered_set<std::string> seen;
  std::vector<std::string> allowed = names_of(catalog.case_fields);
  allowed.insert(allowed.begin(), "name");
  for (const Node& item : expect_items(node, "groups").items) {
    check_keys(expect(item, Node::Kind::map, "a group"), allowed, "a group");
    const Node& name = required_key(item, "name", "the group");
    groups.push_back({read_name(name, "the group's name"), fields_in(item, catalog)});
    if (seen.insert(groups.back().name).second) continue;
    throw ConfigError(name.place, "the group '" + name.text + "' stands twice; names are unique");
  }
  return groups;
}

/// Published figures are of one training, and a case stands in each group.
void check_published(const Node& cases, const std::vector<Group>& groups) {
  if (groups.size() < 2) return;
  for (const Node& item : cases.items) {
    const Node* published = item.find("published");
    if (published == nullptr) continue;
    throw ConfigError(published->place,
                      "published figures are of one training, and this case stands in " +
                          std::to_string(groups.size()) + " groups; give it a suite without");
  }
}

std::vector<CaseEntry> read_cases(const Node& node, const Catalog& catalog) {
  std::vector<CaseEntry> cases;
  std::unordered_set<std::string> seen;
  for (const Node& item : expect_items(node, "cases").items) {
    cases.push_back(read_case(item, catalog));
    if (!seen.insert(cases.back().name).second) {
      throw ConfigError(item.find("name")->place,
                        "the case '" + cases.back().name + "' stands twice; names are unique");
    }
  }
  return cases;
}

std::vector<Axis> read_matrix(const Node& node, const Catalog& catalog) {
  std::vector<Axis> matrix;
  for (const Member& member : expect(node, Node::Kind::map, "matrix").members) {
    const Field& field = scalar_field_at(member.key, catalog.case_fields, member.place);
    matrix.push_back({.path = member.key, .values = expect_items(member.value, member.key).items});
    std::unordered_set<std::string> seen;
    for (const Node& item : matrix.back().values) {
      const Json value = read_value(item, field, member.key);
      if (!seen.insert(value.dump()).second) {
        throw ConfigError(item.place, describe(item) + " stands twice in matrix." + member.key);
      }
      if (field.type == FieldType::text && !is_name(item.text)) {
        throw ConfigError(item.place, "a text in a matrix becomes part of the case's name; " +
                                          std::string("allowed: ") + kNameRule);
      }
    }
  }
  return matrix;
}

std::vector<Override> read_set(const Node& node, const Catalog& catalog) {
  std::vector<Override> overrides;
  for (const Member& member : expect(node, Node::Kind::map, "set").members) {
    scalar_field_at(member.key, catalog.case_fields, member.place);
    overrides.push_back({.path = member.key, .value = member.value});
  }
  return overrides;
}

std::string read_gpu(const Node& node) {
  expect(node, Node::Kind::scalar, "gpu");
  if (dry_run::find_gpu(node.text) != nullptr) return node.text;
  throw ConfigError(node.place, "unknown GPU '" + node.text + "'; " +
                                    allowed_names(node.text, dry_run::gpu_names()));
}

bool read_memory_only(const Node& node) {
  const Field field{.name = kMemoryOnly, .summary = "", .type = FieldType::boolean};
  return read_value(node, field, kMemoryOnly).get<bool>();
}

}  // namespace

SuiteFile parse_suite_file(const Node& root, const Catalog& catalog) {
  check_keys(
      root, {"suite", "source", "gpu", kMemoryOnly, "defaults", "groups", "cases", "matrix", "set"},
      "the suite");
  SuiteFile file;
  file.name = read_name(required_key(root, "suite", "the file"), "the suite's name");
  if (const Node* source = root.find("source")) {
    file.source = expect(*source, Node::Kind::scalar, "source").text;
  }
  if (const Node* gpu = root.find("gpu")) file.gpu = read_gpu(*gpu);
  if (const Node* only = root.find(kMemoryOnly)) file.memory_only = read_memory_only(*only);
  file.defaults.kind = Node::Kind::map;
  if (const Node* defaults = root.find("defaults")) {
    file.defaults = expect(*defaults, Node::Kind::map, "defaults");
  }
  file.groups = {Group{.name = "", .fields = file.defaults}};
  file.groups[0].fields.members.clear();
  const Node& cases = required_key(root, "cases", "the file");
  if (const Node* groups = root.find("groups")) {
    file.groups_place = groups->place;
    file.groups = read_groups(*groups, catalog);
    check_published(cases, file.groups);
  }
  file.cases = read_cases(cases, catalog);
  if (const Node* matrix = root.find("matrix")) {
    file.matrix_place = matrix->place;
    file.matrix = read_matrix(*matrix, catalog);
  }
  if (const Node* set = root.find("set")) file.overrides = read_set(*set, catalog);
  return file;
}

std::vector<std::string> published_keys(const Catalog& catalog) {
  std::vector<std::string> keys;
  for (const Column& column : catalog.columns) {
    if (column.name.starts_with(kPublishedPrefix)) {
      keys.push_back(column.name.substr(kPublishedPrefix.size()));
    }
  }
  return keys;
}

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

/// The fields that a map gives, one a line.
std::string write_fields(const Node& fields, const Catalog& catalog) {
  std::string text;
  const Json given = read_values(fields, catalog.case_fields, "");
  for (const auto& [key, value] : given.items()) text += line(4, key, value);
  return text;
}

std::string write_case(const CaseEntry& entry, const Catalog& catalog) {
  std::string text = line(2, "- name", entry.name);
  if (!entry.techniques.empty()) {
    text += line(4, "techniques", techniques_as_written(entry.techniques));
  }
  if (!entry.published.empty()) text += line(4, "published", entry.published);
  return text + write_fields(entry.fields, catalog);
}

std::string write_groups(const std::vector<Group>& groups, const Catalog& catalog) {
  if (groups[0].name.empty()) return "";
  std::string text = "groups:\n";
  for (const Group& group : groups) {
    text += line(2, "- name", group.name) + write_fields(group.fields, catalog);
  }
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
  if (file.memory_only) text += line(0, kMemoryOnly, true);
  Json defaults = Json::object();
  merge_layer(defaults, file.defaults, catalog.case_fields, "");
  text += "defaults:\n";
  defaults = fill_defaults(defaults, catalog.case_fields);
  for (const auto& [key, value] : defaults.items()) text += line(2, key, value);
  text += write_groups(file.groups, catalog) + "cases:\n";
  for (const CaseEntry& entry : file.cases) text += write_case(entry, catalog);
  return text + write_matrix(file.matrix, catalog) + write_set(file.overrides, catalog);
}

}  // namespace headroom
