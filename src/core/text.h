// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Texts for people and for pages: amounts, characters, names, escapes, tables.
namespace headroom {

/// An amount of memory for people: "512 bytes", "1.50 KiB", "24.95 GiB". GiB is the largest unit.
std::string format_bytes(std::int64_t bytes);

/// Reads "16GiB", "0.5 MiB", "4096" as the nearest whole number of bytes. Nothing where the text is
/// no amount, or more than 2^62.
std::optional<std::int64_t> parse_bytes(std::string_view text);

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

/// Whether a character must not stand in a text that is shown, or kept for other programs, as it
/// is: control characters, marks that turn the direction of the text around them or that nobody
/// sees, and what is no character (U+FFFE, U+FFFF and the like), which XML refuses.
bool must_be_escaped(char32_t value);

/// The text with what must_be_escaped() as \x1b, above U+007F as \u{202e}, and with bytes that are
/// no UTF-8 as \xff, so that nothing that a worker or a file says can steer a terminal. The
/// characters of `kept` stay as they are.
std::string printable(std::string_view text, std::string_view kept = "");

/// Two reasons as one text, "a; b"; where one is empty, the other.
std::string join_reasons(const std::string& first, const std::string& second);

/// The name that `given` is a part of, by whole words, or probably a misspelling of, by edit
/// distance; empty: none is near.
std::string closest_name(std::string_view given, const std::vector<std::string>& names);

/// What a message says after an unknown name: "did you mean 'x'? Allowed: x, y" or "allowed: x, y".
std::string allowed_names(std::string_view given, const std::vector<std::string>& names);

/// What stands for a character that HTML and XML give a meaning; empty: it stands for itself.
std::string_view entity_of(char c);

/// Escapes a printable() text for HTML and XML, in an element or in a quoted attribute.
std::string escape_markup(std::string_view text, std::string_view kept = "");

/// Escapes a printable() text for a cell or a line of GitHub's Markdown.
std::string escape_markdown(std::string_view text);

/// A table as text for people: a header, then rows of as many cells. Columns are as wide as their
/// widest cell, two spaces apart; those named in `right` stand to the right.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::string>& right = {});

// Scalars as JSON spells them, whatever the locale. The whole text must be the value: no spaces, no
// sign +, no leading zeros (010), no other base (0x10), no separators (1_000).

/// -?(0|[1-9][0-9]*), within std::int64_t.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// An integer, optionally with a fraction and an exponent (1e-5, 5.0e-5). Finite: neither names of
/// infinities nor values that a double can't hold (1e400, 1e-400).
std::optional<double> parse_number(std::string_view text);

/// true or false; no yes, on, True.
std::optional<bool> parse_boolean(std::string_view text);

/// The shortest text that parse_number reads as the same value. `value` is finite.
std::string format_number(double value);

}  // namespace headroom
