// SPDX-License-Identifier: Apache-2.0
#include "src/report/escape.h"

#include "src/core/printable.h"

namespace headroom {
namespace {

/// The entity of a character that XML and HTML would read as markup; empty: it is none.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return "";
  }
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  static constexpr std::string_view kMarks = "\\`*_[]|~#$";
  std::string escaped;
  for (const char c : printable(text)) {
    if (kMarks.find(c) != std::string_view::npos) escaped += '\\';
    const std::string_view entity = entity_of(c);
    escaped += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return escaped;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    const std::string_view entity = entity_of(c);
    escaped += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return escaped;
}

}  // namespace headroom
