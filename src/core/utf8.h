// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace headroom {

/// One character at the start of a text, and the bytes it takes; 0 bytes: the text is empty or does
/// not start with valid UTF-8 (overlong forms, surrogates and values above U+10FFFF are invalid).
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};

CodePoint decode_utf8(std::string_view text);

/// The offset of the first byte that is no valid UTF-8; npos: all of it is.
std::size_t find_invalid_utf8(std::string_view text);

/// U+0000..U+001F, U+007F..U+009F, and what YAML counts as not printable.
bool is_control(char32_t value);

inline constexpr std::string_view kUtf8ByteOrderMark = "\xEF\xBB\xBF";

}  // namespace headroom
