// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string_view>

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

}  // namespace headroom
