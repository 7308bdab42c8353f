// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The most that a JSON text may hold.
struct JsonLimits {
  std::size_t bytes = 1024 * 1024;
  std::size_t depth = 64;          // objects and arrays inside each other
  std::size_t values = 1'000'000;  // of every kind, all levels together
};

/// A text that is no JSON by our rules; `what()` says where and why. Who must act depends on who
/// wrote the text, so each caller turns it into the error that fits.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads one JSON value that makes up the whole text. Refused: duplicate keys, integers beyond
/// std::int64_t, numbers beyond double, invalid UTF-8, anything after the value, and what passes
/// `limits`. Time and memory are linear in the text.
/// Throws JsonError.
nlohmann::ordered_json read_json(std::string_view text, const JsonLimits& limits = {});

/// A member of an object; null where there is none, or it is no object.
const nlohmann::ordered_json& member(const nlohmann::ordered_json& object, std::string_view key);
/// The same by a dotted path, "train.optimizer.lr".
const nlohmann::ordered_json& member_at(const nlohmann::ordered_json& object,
                                        std::string_view path);

/// A document as text for people and programs: indented, with a line end. What must_be_escaped()
/// (src/core/text.h) stands as \u001b, which reads back as it was; bytes that are no UTF-8, which
/// no JSON can hold, as U+FFFD.
std::string json_text(const nlohmann::ordered_json& document);

/// A value that two documents do not have in common.
struct JsonDifference {
  std::string path;  // "train.optimizer.lr"; empty: the documents as a whole
  nlohmann::ordered_json old_value;
  nlohmann::ordered_json new_value;
  bool is_in_both = true;  // else one of the values is null, as its document has no such member

  /// "train.steps was 10 and is 20", "train.steps was 10 and is missing".
  std::string text() const;
};

/// Where two documents differ, in the order of the old one and then of the new one. Objects are
/// compared member by member, in any order; arrays and all else as a whole.
std::vector<JsonDifference> differences(const nlohmann::ordered_json& old_document,
                                        const nlohmann::ordered_json& new_document);

}  // namespace headroom
