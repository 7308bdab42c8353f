// SPDX-License-Identifier: Apache-2.0
#include "src/core/yaml.h"

#include <nlohmann/json.hpp>

#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

/// The tree as YAML: each text in quotes, so that none means anything else than itself.
std::string to_yaml(const Node& node) {
  if (node.kind == Node::Kind::scalar) return nlohmann::json(node.text).dump();
  std::string text;
  for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + to_yaml(item);
  for (const Member& member : node.members) {
    text += text.empty() ? "" : ", ";
    text += nlohmann::json(member.key).dump() + ": " + to_yaml(member.value);
  }
  return node.kind == Node::Kind::map ? "{" + text + "}" : "[" + text + "]";
}

/// Whether to_yaml() makes a key of more than 1,024 characters, which YAML does not have in a line.
bool has_long_key(const Node& node) {
  constexpr std::size_t kMaxCharacters = 1024;
  for (const Node& item : node.items) {
    if (has_long_key(item)) return true;
  }
  for (const Member& member : node.members) {
    if (nlohmann::json(member.key).dump().size() > kMaxCharacters) return true;
    if (has_long_key(member.value)) return true;
  }
  return false;
}

bool are_alike(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!are_alike(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    if (a.members[i].key != b.members[i].key) return false;
    if (!are_alike(a.members[i].value, b.members[i].value)) return false;
  }
  return true;
}

/// Counts the nodes, and looks at each.
std::size_t check_nodes(const Node& node, std::size_t depth) {
  require(depth <= YamlLimits::kDepth + 1, "a tree is no deeper than the limit");
  require(node.text.size() <= YamlLimits::kScalarBytes, "a text is no longer than the limit");
  require(node.place.line >= 1 && node.place.column >= 1, "a node has a place");
  std::size_t count = 1;
  for (const Node& item : node.items) count += check_nodes(item, depth + 1);
  for (const Member& member : node.members) count += 1 + check_nodes(member.value, depth + 1);
  return count;
}

}  // namespace

void fuzz_yaml(std::string_view input) {
  Node tree;
  if (!is_accepted([&] { tree = read_yaml(input, kInputName); })) return;
  require(tree.kind == Node::Kind::map, "what is read is a map");
  require(check_nodes(tree, 1) <= YamlLimits::kNodes, "a tree has no more nodes than the limit");
  const std::string text = to_yaml(tree);
  if (text.size() > YamlLimits::kBytes || has_long_key(tree)) return;
  require(are_alike(read_yaml(text, "written again"), tree), "a tree reads back as it was");
}

}  // namespace headroom
