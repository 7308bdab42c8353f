// SPDX-License-Identifier: Apache-2.0
#include "src/report/markup.h"

#include "src/core/printable.h"

namespace headroom {

std::string escape_markup(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
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
