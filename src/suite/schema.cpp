// SPDX-License-Identifier: Apache-2.0
#include "src/suite/schema.h"

#include <algorithm>
#include <optional>

#include "src/core/error.h"
#include "src/core/table.h"
#include "src/core/text.h"
#include "src/core/yaml.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string range_text(const std::string& what, const std::optional<std::string>& min,
                       const std::optional<std::string>& max) {
  if (min && max) return what + " from " + *min + " to " + *max;
  if (min) return what + " of at least " + *min;
  if (max) return what + " of at most " + *max;
  return what;
}

template <class T, class Format>
std::string range_text(const std::string& what, const Range<T>& range, Format format) {
  std::optional<std::string> min, max;
  if (range.min != Range<T>{}.min) min = format(range.min);
  if (range.max != Range<T>{}.max) max = format(range.max);
  return range_text(what, min, max);
}

std::string allowed_values(const Field& field, const std::string& given) {
  switch (field.type) {
    case FieldType::integer:
      return "allowed: " + range_text("an integer", field.integers,
                                      [](std::int64_t value) { return std::to_string(value); });
    case FieldType::number:
      return "allowed: " + range_text("a number", field.numbers, format_number);
    case FieldType::boolean:
      return "allowed: true, false";
    case FieldType::choice:
      return allowed_names(given, names_of(field.choices));
    default:
      return "allowed: a text";
  }
}

template <class T>
std::optional<T> within(std::optional<T> value, const Range<T>& range) {
  return value && *value >= range.min && *value <= range.max ? value : std::nullopt;
}

/// The value of a scalar; null: the field does not take it.
Json convert(const Node& node, const Field& field) {
  const auto json = [&](const auto& value) {
    return value && !node.quoted ? Json(*value) : Json();
  };
  switch (field.type) {
    case FieldType::integer:
      return json(within(parse_integer(node.text), field.integers));
    case FieldType::number:
      return json(within(parse_number(node.text), field.numbers));
    case FieldType::boolean:
      return json(parse_boolean(node.text));
    case FieldType::choice: {
      const bool known = std::any_of(field.choices.begin(), field.choices.end(),
                                     [&](const auto& choice) { return choice.name == node.text; });
      return known ? Json(node.text) : Json();
    }
    default:
      return node.text;
  }
}

const Field& known_field(const Member& member, const std::vector<Field>& fields,
                         const std::string& path) {
  const Field* field = find_field(fields, member.key);
  if (field != nullptr) return *field;
  throw ConfigError(member.place, "unknown key '" + member.key + "'" +
                                      (path.empty() ? "" : " in " + path) + "; " +
                                      allowed_names(member.key, names_of(fields)));
}

/// The name by which sibling fields apply: the one given, or the default. Empty: not known yet.
std::string name_in_force(const Json& values, const std::vector<Field>& fields) {
  if (values.contains("name")) return values["name"].get<std::string>();
  const Field* name = find_field(fields, "name");
  return name != nullptr && name->default_value.is_string() ? name->default_value.get<std::string>()
                                                            : std::string();
}

void set_name(Json& values, const Member& name, const std::vector<Field>& fields,
              const std::string& path) {
  const Field& name_field = known_field(name, fields, path);
  values["name"] = read_value(name.value, name_field, join(path, "name"));
  const auto text = values["name"].get<std::string>();
  for (const Field& field : fields) {
    if (!field.applies_to(text)) values.erase(field.name);
  }
}

[[noreturn]] void refuse_with_name(const Member& member, const Field& field,
                                   const std::string& name, const std::string& path) {
  std::string allowed;
  for (const std::string& other : field.only_with) {
    allowed += (allowed.empty() ? "" : ", ") + other;
  }
  throw ConfigError(member.place, join(path, field.name) + " does not go with " +
                                      join(path, "name") + " '" + name +
                                      "'; it goes with: " + allowed);
}

}  // namespace

bool is_name(std::string_view text) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > kLongestCaseName || !letter_or_digit(text.front()))
    return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  });
}

const Node& expect(const Node& node, Node::Kind kind, const std::string& what) {
  if (node.kind == kind) return node;
  const char* allowed = kind == Node::Kind::map    ? "a map"
                        : kind == Node::Kind::list ? "a list"
                                                   : "a text";
  throw ConfigError(node.place, what + " is " + describe(node) + "; allowed: " + allowed);
}

Json read_value(const Node& node, const Field& field, const std::string& path) {
  Json value = node.kind == Node::Kind::scalar ? convert(node, field) : Json();
  if (!value.is_null()) return value;
  throw ConfigError(node.place,
                    path + " is " + describe(node) + "; " + allowed_values(field, node.text));
}

Json read_values(const Node& map, const std::vector<Field>& fields, const std::string& path) {
  Json values = Json::object();
  for (const Member& member : expect(map, Node::Kind::map, path).members) {
    const Field& field = known_field(member, fields, path);
    const std::string at = join(path, field.name);
    values[field.name] = field.type == FieldType::object
                             ? read_values(member.value, field.fields, at)
                             : read_value(member.value, field, at);
  }
  return values;
}

void merge_layer(Json& values, const Node& map, const std::vector<Field>& fields,
                 const std::string& path) {
  expect(map, Node::Kind::map, path);
  for (const Member& member : map.members) {
    if (member.key == "name") set_name(values, member, fields, path);
  }
  const std::string name = name_in_force(values, fields);
  for (const Member& member : map.members) {
    if (member.key == "name") continue;
    const Field& field = known_field(member, fields, path);
    if (!field.applies_to(name)) refuse_with_name(member, field, name, path);
    const std::string at = join(path, field.name);
    if (field.type == FieldType::object) {
      if (!values.contains(field.name)) values[field.name] = Json::object();
      merge_layer(values[field.name], member.value, field.fields, at);
    } else {
      values[field.name] = read_value(member.value, field, at);
    }
  }
}

Json fill_defaults(const Json& values, const std::vector<Field>& fields) {
  const std::string name = name_in_force(values, fields);
  Json filled = Json::object();
  for (const Field& field : fields) {
    const bool given = values.contains(field.name);
    const bool applies = field.only_with.empty() || (!name.empty() && field.applies_to(name));
    if (!given && !applies) continue;
    if (field.type == FieldType::object) {
      filled[field.name] = fill_defaults(given ? values[field.name] : Json::object(), field.fields);
    } else if (given) {
      filled[field.name] = values[field.name];
    } else if (!field.required) {
      filled[field.name] = field.default_value;
    }
  }
  return filled;
}

void check_required(const Json& values, const std::vector<Field>& fields, const Place& place,
                    const std::string& path) {
  const std::string name = name_in_force(values, fields);
  for (const Field& field : fields) {
    if (!field.applies_to(name)) continue;
    const std::string at = join(path, field.name);
    if (field.type == FieldType::object && values.contains(field.name)) {
      check_required(values[field.name], field.fields, place, at);
    } else if (field.required && !values.contains(field.name)) {
      throw ConfigError(place, at + " must be given; " + allowed_values(field, ""));
    }
  }
}

const Field& scalar_field_at(const std::string& path, const std::vector<Field>& fields,
                             const Place& place) {
  const std::vector<Field>* level = &fields;
  for (std::size_t start = 0;;) {
    const std::size_t dot = path.find('.', start);
    const std::string name = path.substr(start, dot - start);
    const Field* field = find_field(*level, name);
    const std::string parent = start == 0 ? std::string() : path.substr(0, start - 1);
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const Field& known : *level) names.push_back(join(parent, known.name));
      throw ConfigError(place, "unknown key '" + path + "'; " +
                                   (names.empty() ? "'" + parent + "' has no fields"
                                                  : allowed_names(join(parent, name), names)));
    }
    level = &field->fields;
    if (dot == std::string::npos) {
      if (field->type != FieldType::object) return *field;
      throw ConfigError(place, "'" + path + "' is a group of fields; name one of them: " +
                                   allowed_names("", names_of(field->fields)));
    }
    start = dot + 1;
  }
}

}  // namespace headroom
