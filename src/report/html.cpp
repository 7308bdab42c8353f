// SPDX-License-Identifier: Apache-2.0
#include "src/report/html.h"

#include <fmt/format.h>

#include "src/core/utf8.h"
#include "src/core/markup.h"

namespace headroom {
namespace {

/// Marks that turn the order of the characters around them, or that nobody sees.
bool is_invisible(char32_t c) {
  return is_control(c) || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
}

std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::string_view bytes = text.substr(0, point.bytes == 0 ? 1 : point.bytes);
    text.remove_prefix(bytes.size());
    if (point.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    } else if (is_invisible(point.value)) {
      result += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(point.value));
    } else if (const std::string_view entity = entity_of(bytes.front()); !entity.empty()) {
      result += entity;
    } else {
      result += bytes;
    }
  }
  return result;
}

std::string opening(std::string_view tag, const Attributes& attributes) {
  std::string result = "<" + std::string(tag);
  for (const auto& [name, value] : attributes) {
    result += " " + std::string(name) + "=\"" + escape(value) + "\"";
  }
  return result;
}

}  // namespace

Html::Html(std::string_view text) : markup_(escape(text)) {}

Html Html::trusted(std::string_view markup) {
  Html result;
  result.markup_ = markup;
  return result;
}

Html& Html::operator+=(const Html& more) {
  markup_ += more.markup_;
  return *this;
}

Html element(std::string_view tag, const Attributes& attributes, const Html& content) {
  return Html::trusted(opening(tag, attributes) + ">" + content.markup() + "</" + std::string(tag) +
                       ">");
}

Html element(std::string_view tag, const Html& content) { return element(tag, {}, content); }

Html empty_element(std::string_view tag, const Attributes& attributes) {
  return Html::trusted(opening(tag, attributes) + "/>");
}

Html name_html(const std::string& name) { return element("bdi", name); }

}  // namespace headroom
