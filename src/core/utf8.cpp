// SPDX-License-Identifier: Apache-2.0
#include "src/core/utf8.h"

namespace headroom {
namespace {

// The length that a lead byte announces, the bits it carries, and the least value of that length.
struct Lead {
  std::size_t bytes;
  char32_t bits;
  char32_t least;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC0 && byte < 0xE0) return {2, byte & 0x1Fu, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0Fu, 0x800};
  if (byte >= 0xF0 && byte < 0xF8) return {4, byte & 0x07u, 0x10000};
  return {0, 0, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.bytes == 0 || text.size() < lead.bytes) return {};
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte & 0x3Fu);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.least || value > 0x10FFFF || surrogate) return {};
  return {value, lead.bytes};
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text.substr(at));
    if (point.bytes == 0) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F) || value == 0xFEFF || value == 0xFFFE ||
         value == 0xFFFF;
}

}  // namespace headroom
