// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/core/place.h"

namespace headroom {

struct Member;

/// One value of a tree that a user wrote: a scalar, a list or a map, each with its place. Scalars
/// are text: what they mean is for the reader of the tree to say (src/core/scalar.h).
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

}  // namespace headroom
