// SPDX-License-Identifier: Apache-2.0
#include "src/core/fields.h"

#include <nlohmann/json.hpp>

namespace headroom {

void Fields::choice_of_names(const FieldInfo& info, std::string& value,
                             std::span<const std::string_view> names) {
  std::vector<Choice> choices;
  for (const std::string_view name : names) choices.push_back({.name = name});
  choice(info, value, choices);
}

namespace {

using Json = nlohmann::ordered_json;

class DescribeFields final : public Fields {
 public:
  Json take() { return std::move(fields_); }

  void integer(const FieldInfo& info, std::int64_t& value, Range<std::int64_t> range) override {
    add_ranged(info, "integer", value, range);
  }
  void number(const FieldInfo& info, double& value, Range<double> range) override {
    add_ranged(info, "number", value, range);
  }
  void boolean(const FieldInfo& info, bool& value) override { add(info, "boolean", value); }
  void text(const FieldInfo& info, std::string& value) override { add(info, "text", value); }

  void choice(const FieldInfo& info, std::string& value, std::span<const Choice> choices) override {
    Json& field = add(info, "choice", value);
    field["choices"] = Json::array();
    for (const Choice& choice : choices) {
      field["choices"].push_back({{"name", choice.name}, {"summary", choice.summary}});
    }
  }

  void object(const FieldInfo& info, const std::function<void(Fields&)>& members) override {
    add(info, "object", nullptr)["fields"] = describe_fields(members);
  }

 private:
  // The element stays where it is until the next field is added.
  Json& add(const FieldInfo& info, const char* type, const Json& initial) {
    Json field{{"name", info.name}, {"type", type}, {"summary", info.summary}};
    if (info.required) {
      field["required"] = true;
    } else if (!initial.is_null()) {
      field["default"] = initial;
    }
    if (!info.only_with.empty()) field["only_with"] = info.only_with;
    fields_.push_back(std::move(field));
    return fields_.back();
  }

  template <class T>
  void add_ranged(const FieldInfo& info, const char* type, T value, Range<T> range) {
    Json& field = add(info, type, value);
    if (range.min != Range<T>{}.min) field["min"] = range.min;
    if (range.max != Range<T>{}.max) field["max"] = range.max;
  }

  Json fields_ = Json::array();
};

}  // namespace

Json describe_fields(const std::function<void(Fields&)>& members) {
  DescribeFields description;
  members(description);
  return description.take();
}

}  // namespace headroom
