// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.h"

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

/// The most that a YAML file may hold. Reading costs a small multiple of it, whatever the file
/// says.
struct YamlLimits {
  static constexpr std::size_t kBytes = 256 * 1024;
  static constexpr std::size_t kDepth = 16;      // maps and lists inside each other
  static constexpr std::size_t kNodes = 10'000;  // scalars, lists and maps; keys count as well
  static constexpr std::size_t kScalarBytes = 1024;
};

/// Reads the strict part of YAML that suite files use: one document, whose root is a map, of maps
/// with plain keys, lists, and scalars. Everything else is refused, with its place and what is
/// allowed: anchors, aliases, merge keys, tags, directives, keys that are no scalar, missing values
/// (null), duplicate keys, a second document, an empty one, text that is no UTF-8 (a UTF-8 byte
/// order mark is accepted), control characters, tabs, and whatever passes YamlLimits.
///
/// Columns count bytes. `file` names the text in messages.
/// Throws ConfigError.
Node read_yaml(std::string_view text, const std::string& file);

/// The same for a file, which must be a regular one.
Node read_yaml_file(const std::string& path);

}  // namespace headroom
