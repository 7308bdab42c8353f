// SPDX-License-Identifier: Apache-2.0
#include "src/core/markup.h"

#include "src/core/printable.h"

namespace headroom {

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
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string escape_markup(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    const std::string_view entity = entity_of(c);
    result += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return result;
}

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kMeaning = "\\`*_{}[]()#+-.!|~<>&@";
  std::string result;
  for (const char c : printable(text)) {
    if (kMeaning.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace headroom
