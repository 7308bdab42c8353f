// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/place.h"

namespace headroom {

struct Member;

/// One value of a tree that a user wrote: a scalar, a list or a map, each with its place. Scalars
/// are text: what they mean is for the reader of the tree to say, with parse_integer() and its
/// like.
struct Node {
  enum class Kind { scalar, list, map };

  Kind kind = Kind::scalar;
  Place place;
  std::string text;             // of a scalar
  bool quoted = false;          // the scalar stood in quotes, or in a block: it is a text
  std::vector<Node> items;      // of a list
  std::vector<Member> members;  // of a map, in the order of the file; no key stands twice

  /// The value of `key` in a map; null where it has none.
  const Node* find(std::string_view key) const;
};

/// One entry of a map.
struct Member {
  std::string key;
  Place place;  // of the key
  Node value;
};

/// "a map", "a list", "the text 'x'" (quoted) or "'x'", for messages.
std::string describe(const Node& node);

// Scalars as JSON spells them, whatever the locale. The whole text must be the value: no spaces, no
// sign +, no leading zeros (010), no other base (0x10), no separators (1_000).

/// -?(0|[1-9][0-9]*), within std::int64_t.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// An integer, optionally with a fraction and an exponent (1e-5, 5.0e-5). Finite: neither names of
/// infinities nor values that a double can't hold (1e400, 1e-400).
std::optional<double> parse_number(std::string_view text);

/// true or false; no yes, on, True.
std::optional<bool> parse_boolean(std::string_view text);

/// The shortest text that parse_number reads as the same value. `value` is finite.
std::string format_number(double value);

}  // namespace headroom
