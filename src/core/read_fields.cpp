// SPDX-License-Identifier: Apache-2.0
#include "src/core/fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/core/error.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// The value in force of the field `name`, by which other fields apply or not. Reads nothing else.
class FindName final : public Fields {
 public:
  explicit FindName(const Json& values) : values_(values) {}
  const std::string& name() const { return name_; }

  void integer(const FieldInfo&, std::int64_t&, Range<std::int64_t>) override {}
  void number(const FieldInfo&, double&, Range<double>) override {}
  void boolean(const FieldInfo&, bool&) override {}
  void text(const FieldInfo& info, std::string& value) override { look_at(info, value); }
  void choice(const FieldInfo& info, std::string& value, std::span<const Choice>) override {
    look_at(info, value);
  }
  void object(const FieldInfo&, const std::function<void(Fields&)>&) override {}

 private:
  void look_at(const FieldInfo& info, const std::string& value) {
    if (info.name != "name") return;
    const auto given = values_.find("name");
    name_ = given != values_.end() && given->is_string() ? given->get<std::string>() : value;
  }

  const Json& values_;
  std::string name_;
};

class ReadFields final : public Fields {
 public:
  ReadFields(const Json& values, const std::string& where, std::string name)
      : values_(values), where_(where), name_(std::move(name)) {}

  void integer(const FieldInfo& info, std::int64_t& value, Range<std::int64_t> range) override {
    const Json* given = take(info);
    if (given == nullptr) return;
    if (!fits_integer(*given)) refuse(info, *given, "allowed: an integer");
    const auto number = given->get<std::int64_t>();
    if (number < range.min || number > range.max) {
      refuse(info, *given,
             "allowed: " + std::to_string(range.min) + " to " + std::to_string(range.max));
    }
    value = number;
  }

  void number(const FieldInfo& info, double& value, Range<double> range) override {
    const Json* given = take(info);
    if (given == nullptr) return;
    if (!given->is_number()) refuse(info, *given, "allowed: a number");
    const auto number = given->get<double>();
    if (!(number >= range.min && number <= range.max)) {
      refuse(info, *given,
             "allowed: " + format_number(range.min) + " to " + format_number(range.max));
    }
    value = number;
  }

  void boolean(const FieldInfo& info, bool& value) override {
    const Json* given = take(info);
    if (given == nullptr) return;
    if (!given->is_boolean()) refuse(info, *given, "allowed: true, false");
    value = given->get<bool>();
  }

  void text(const FieldInfo& info, std::string& value) override {
    const Json* given = take(info);
    if (given == nullptr) return;
    if (!given->is_string()) refuse(info, *given, "allowed: a text");
    value = given->get<std::string>();
  }

  void choice(const FieldInfo& info, std::string& value, std::span<const Choice> choices) override {
    const Json* given = take(info);
    if (given == nullptr) return;
    std::vector<std::string> names;
    for (const Choice& choice : choices) names.emplace_back(choice.name);
    const std::string text = given->is_string() ? given->get<std::string>() : given->dump();
    if (!given->is_string() || std::find(names.begin(), names.end(), text) == names.end()) {
      refuse(info, *given, allowed_names(text, names));
    }
    value = text;
  }

  void object(const FieldInfo& info, const std::function<void(Fields&)>& members) override {
    const Json* given = take(info);
    if (given == nullptr && !applies(info)) return;
    // Without the object its members may still miss a value that is required.
    read_fields(given == nullptr ? Json::object() : *given, path(info.name), members);
  }

  void refuse_unread() const {
    for (const auto& [key, value] : values_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        throw ConfigError(where_ + ": unknown key '" + key + "'; " + allowed_names(key, known_));
      }
    }
  }

 private:
  static bool fits_integer(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= INT64_MAX;
    return value.is_number_integer();
  }

  bool applies(const FieldInfo& info) const {
    return info.only_with.empty() ||
           std::find(info.only_with.begin(), info.only_with.end(), name_) != info.only_with.end();
  }

  // The value given for a field; null: none.
  const Json* take(const FieldInfo& info) {
    known_.emplace_back(info.name);
    const auto given = values_.find(info.name);
    if (given == values_.end()) {
      if (info.required && applies(info)) throw ConfigError(path(info.name) + " must be given");
      return nullptr;
    }
    if (!applies(info)) {
      throw ConfigError(path(info.name) + " does not go with " + path("name") + " '" + name_ +
                        "'; it goes with: " + join(info.only_with));
    }
    return &*given;
  }

  std::string path(std::string_view field) const {
    return where_.empty() ? std::string(field) : where_ + "." + std::string(field);
  }

  [[noreturn]] void refuse(const FieldInfo& info, const Json& given,
                           const std::string& allowed) const {
    throw ConfigError(path(info.name) + " is " + given.dump() + "; " + allowed);
  }

  static std::string join(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
    return text;
  }

  const Json& values_;
  const std::string& where_;
  std::string name_;
  std::vector<std::string> known_;
};

}  // namespace

void read_fields(const Json& values, const std::string& where,
                 const std::function<void(Fields&)>& members) {
  if (!values.is_object()) {
    throw ConfigError((where.empty() ? "the values" : where) + " must be an object");
  }
  FindName find_name(values);
  members(find_name);
  ReadFields fields(values, where, find_name.name());
  members(fields);
  fields.refuse_unread();
}

}  // namespace headroom
