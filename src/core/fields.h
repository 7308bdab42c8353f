// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/enum_names.h"

namespace headroom {

/// What is said of every field.
struct FieldInfo {
  std::string_view name;
  std::string_view summary;  // one line, with the unit
  /// The values of the sibling field `name` with which this field may be given; empty: all.
  std::vector<std::string_view> only_with = {};
  bool required = false;  // true: there is no default
};

/// Bounds of a number, both allowed.
template <class T>
struct Range {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

/// One value that a choice field may take.
struct Choice {
  std::string_view name;
  std::string_view summary = {};
};

/// A visitor over the members of an options struct. Each such struct has one function
///
///     void fields(Fields& f) { f.integer({"micro_batches", "micro-batches a step"}, micro_batches,
///                                        {1, 65536}); }
///
/// that serves twice: describe_fields() turns it into the catalog by which the command line checks
/// suite files, with the member's initial value as the default; read_fields() fills the members
/// from a case. So a name, a type, a range and a default stand in one place.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void integer(const FieldInfo& info, std::int64_t& value, Range<std::int64_t> range) = 0;
  virtual void number(const FieldInfo& info, double& value, Range<double> range) = 0;
  virtual void boolean(const FieldInfo& info, bool& value) = 0;
  virtual void text(const FieldInfo& info, std::string& value) = 0;
  /// `value` is one of the choices' names.
  virtual void choice(const FieldInfo& info, std::string& value,
                      std::span<const Choice> choices) = 0;
  /// A group of fields below `info.name`.
  virtual void object(const FieldInfo& info, const std::function<void(Fields&)>& members) = 0;

  /// A choice among the enumerators of E, by their names.
  template <class E>
  void choice(const FieldInfo& info, E& value) {
    const std::span<const std::string_view> names = enum_names<E>();
    std::string text(enum_name(value));
    choice_of_names(info, text, names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) value = static_cast<E>(i);
    }
  }

 private:
  void choice_of_names(const FieldInfo& info, std::string& value,
                       std::span<const std::string_view> names);
};

/// The catalog's form of the fields that `members` visits: an array of objects
///
///     {"name": "lr", "type": "number", "summary": "...", "default": 5e-5, "min": 0, "max": 10,
///      "only_with": ["adam"]}
///
/// `type` is integer, number, boolean, text, choice (with "choices": [{"name", "summary"}]) or
/// object (with "fields": [...]). "min" and "max" stand where there is a bound; "default" is
/// missing, and "required" is true, where a value must be given; "only_with" stands where it
/// limits.
nlohmann::ordered_json describe_fields(const std::function<void(Fields&)>& members);

/// Fills the fields that `members` visits from the JSON object `values`. A field that is missing
/// keeps its value; a key that no field read, a wrong type and a value out of range are errors.
/// `where` names the object in messages ("train.optimizer").
/// Throws ConfigError. The command line has checked a case before; this is the worker's own door.
void read_fields(const nlohmann::ordered_json& values, const std::string& where,
                 const std::function<void(Fields&)>& members);

}  // namespace headroom
