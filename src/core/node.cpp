// SPDX-License-Identifier: Apache-2.0
#include "src/core/node.h"

namespace headroom {

const Node* Node::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string describe(const Node& node) {
  if (node.kind == Node::Kind::map) return "a map";
  if (node.kind == Node::Kind::list) return "a list";
  if (node.quoted) return "the text '" + node.text + "'";
  return "'" + node.text + "'";
}

}  // namespace headroom
