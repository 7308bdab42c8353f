// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace headroom {

/// What stands for the names of a case's techniques where it has none.
inline constexpr const char* kNoTechniques = "none";

/// The names in a case's list of techniques, for people, in their order: "mixed_precision+sgd".
std::string technique_names(const nlohmann::ordered_json& techniques);

/// One combination that a suite measures, complete: every field that applies has its value.
struct Case {
  std::string name;  // unique in its suite; "case@train.batch_size=4,train.seed=1" out of a matrix
  nlohmann::ordered_json techniques = nlohmann::ordered_json::array();  // [{"name", ...options}]
  /// {"ranks": 1, "model": {...}, "data": {...}, "train": {...}, "limits": {...}}, in the catalog's
  /// order.
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  /// How far its figures may move: {"time_percent": 3.0, "reserved_bytes": 20971520}.
  nlohmann::ordered_json gate = nlohmann::ordered_json::object();
  /// Figures to compare with: {"run_peak_reserved_bytes": 26790000000}.
  nlohmann::ordered_json published = nlohmann::ordered_json::object();

  /// What the worker gets as "case": the name and the work.
  nlohmann::ordered_json to_json() const;

  /// The value of a field by its dotted path ("train.batch_size"); null: the case has none.
  const nlohmann::ordered_json* find(std::string_view path) const;

  /// How many processes train it together; 1 where the catalog has no such field.
  std::int64_t ranks() const;

  std::string technique_names() const { return headroom::technique_names(techniques); }

  /// What is measured: fields and "techniques"; not the name and the published figures.
  nlohmann::ordered_json work() const;

  friend bool operator==(const Case&, const Case&) = default;
};

}  // namespace headroom
