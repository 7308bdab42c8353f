// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "src/core/enum_names.h"

namespace headroom {

/// What is said of every field.
struct FieldInfo {
  std::string_view name;
  std::string_view summary;  // one line, with the unit
  /// The values of the sibling field `name` with which this field may be given; empty: all.
  std::initializer_list<std::string_view> only_with = {};
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
/// that serves twice: DescribeFields turns it into the catalog by which the command line checks
/// suite files, with the member's initial value as the default; ReadFields fills the members from
/// a case. So a name, a type, a range and a default stand in one place.
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

}  // namespace headroom
