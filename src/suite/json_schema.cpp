// SPDX-License-Identifier: Apache-2.0
#include "src/suite/json_schema.h"

#include <nlohmann/json.hpp>

#include "src/core/table.h"
#include "src/gpus/gpu.h"
#include "src/suite/schema.h"
#include "src/suite/suite_file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Whether a map must hold its required fields: those of a case may stand in another layer.
enum class Required { here, elsewhere };

Json closed_object(Json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
}

template <class T>
void add_bounds(Json& schema, const Range<T>& range) {
  if (range.min != Range<T>{}.min) schema["minimum"] = range.min;
  if (range.max != Range<T>{}.max) schema["maximum"] = range.max;
}

// A text may be written without quotes, also where it looks like a number.
Json text_schema() { return {{"type", {"string", "number", "boolean"}}}; }

Json name_schema() {
  Json schema = text_schema();
  schema["pattern"] = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  return schema;
}

Json fields_schema(const std::vector<Field>& fields, Required required);

Json type_schema(const Field& field, Required required) {
  switch (field.type) {
    case FieldType::object:
      return fields_schema(field.fields, required);
    case FieldType::choice:
      return {{"enum", names_of(field.choices)}};
    case FieldType::boolean:
      return {{"type", "boolean"}};
    case FieldType::text:
      return text_schema();
    default: {
      Json schema{{"type", field.type == FieldType::integer ? "integer" : "number"}};
      if (field.type == FieldType::integer) add_bounds(schema, field.integers);
      if (field.type == FieldType::number) add_bounds(schema, field.numbers);
      return schema;
    }
  }
}

Json field_schema(const Field& field, Required required) {
  Json schema = type_schema(field, required);
  std::string description = field.summary;
  for (std::size_t i = 0; i < field.only_with.size(); ++i) {
    description += (i == 0 ? " (only with " : ", ") + field.only_with[i];
  }
  if (!field.only_with.empty()) description += ")";
  schema["description"] = description;
  if (!field.default_value.is_null()) schema["default"] = field.default_value;
  return schema;
}

Json fields_schema(const std::vector<Field>& fields, Required required) {
  Json properties = Json::object();
  Json names = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = field_schema(field, required);
    if (field.required) names.push_back(field.name);
  }
  Json schema = closed_object(std::move(properties));
  if (required == Required::here && !names.empty()) schema["required"] = names;
  return schema;
}

Json techniques_schema(const Catalog& catalog) {
  Json options = Json::object();
  for (const TechniqueInfo& technique : catalog.techniques) {
    options[technique.name] = fields_schema(technique.fields, Required::here);
    options[technique.name]["description"] = technique.summary;
  }
  Json with_options = closed_object(std::move(options));
  with_options["minProperties"] = 1;
  with_options["maxProperties"] = 1;
  Json name{{"enum", names_of(catalog.techniques)}};
  return {{"type", "array"}, {"items", {{"anyOf", {name, with_options}}}}};
}

Json published_schema(const Catalog& catalog) {
  Json properties = Json::object();
  for (const std::string& key : published_keys(catalog)) {
    const Column* column = catalog.find_column(std::string(kPublishedPrefix) + key);
    Json& schema = properties[key] = {{"description", column->summary}};
    if (column->type == ColumnType::integer) schema["type"] = "integer";
    if (column->type == ColumnType::number) schema["type"] = "number";
  }
  return closed_object(std::move(properties));
}

/// Adds every field that is no object, by its dotted path.
void add_paths(Json& paths, const std::vector<Field>& fields, const std::string& prefix) {
  for (const Field& field : fields) {
    if (field.type == FieldType::object) {
      add_paths(paths, field.fields, prefix + field.name + ".");
    } else {
      paths[prefix + field.name] = field_schema(field, Required::elsewhere);
    }
  }
}

}  // namespace

Json suite_json_schema(const Catalog& catalog) {
  const Json layer = fields_schema(catalog.case_fields, Required::elsewhere);
  Json group = layer;
  group["properties"]["name"] = name_schema();
  group["required"] = {"name"};
  Json one_case = layer;
  one_case["properties"]["name"] = name_schema();
  one_case["properties"]["techniques"] = techniques_schema(catalog);
  one_case["properties"]["published"] = published_schema(catalog);
  one_case["required"] = {"name"};

  Json set = Json::object();
  add_paths(set, catalog.case_fields, "");
  Json matrix = Json::object();
  for (const auto& [path, schema] : set.items()) {
    matrix[path] = list_of(schema);
    matrix[path]["uniqueItems"] = true;
  }
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "headroom suite"}};
  schema.update(closed_object({{"suite", name_schema()},
                               {"source", text_schema()},
                               {"gpu", {{"enum", dry_run::gpu_names()}}},
                               {kMemoryOnly, {{"type", "boolean"}, {"default", false}}},
                               {"defaults", layer},
                               {"groups", list_of(group)},
                               {"cases", list_of(one_case)},
                               {"matrix", closed_object(std::move(matrix))},
                               {"set", closed_object(std::move(set))}}));
  schema["required"] = {"suite", "cases"};
  return schema;
}

}  // namespace headroom
