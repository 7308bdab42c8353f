// SPDX-License-Identifier: Apache-2.0
#include "src/core/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "src/core/checksum.h"

namespace headroom {
namespace {

struct ByteUnit {
  double bytes;
  std::string_view name;
};

constexpr std::array kUnits{ByteUnit{1024.0 * 1024 * 1024, " GiB"}, ByteUnit{1024.0 * 1024, " MiB"},
                            ByteUnit{1024.0, " KiB"}};

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  for (const ByteUnit& unit : kUnits) {
    if (std::abs(amount) < unit.bytes) continue;
    std::array<char, 32> buffer;
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                      amount / unit.bytes, std::chars_format::fixed, 2);
    return std::string(buffer.data(), result.ptr).append(unit.name);
  }
  return std::to_string(bytes) + " bytes";
}

std::string join_reasons(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double factor = unit.empty() ? 1 : 0;
  for (const ByteUnit& known : kUnits) {
    if (unit == known.name.substr(1)) factor = known.bytes;
  }
  const double bytes = std::round(amount * factor);
  if (factor == 0 || !(bytes >= 0 && bytes <= 0x1p62)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

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

bool must_be_escaped(char32_t value) {
  return is_control(value) || value == 0x61C || (value >= 0x200B && value <= 0x200F) ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2060 && value <= 0x206F) ||
         (value & 0xFFFE) == 0xFFFE || (value >= 0xFDD0 && value <= 0xFDEF);
}

namespace {

/// U+202E as "202e".
std::string hex_of(char32_t value) {
  const std::string digits = to_hex(value, 6);
  return digits.substr(digits.find_first_not_of('0'));
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(point.bytes, 1));
    text.remove_prefix(bytes.size());
    const bool is_valid = point.bytes > 0;
    if (is_valid && (!must_be_escaped(point.value) || kept.find(bytes) != kept.npos)) {
      result += bytes;
    } else if (bytes.size() == 1) {
      result += "\\x" + to_hex(static_cast<unsigned char>(bytes.front()), 2);
    } else {
      result += "\\u{" + hex_of(point.value) + "}";
    }
  }
  return result;
}

namespace {

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a name is `given` and more words, as "rtx-a6000" is of "a6000".
bool has_words(std::string_view name, std::string_view given) {
  const std::size_t begin = given.empty() ? name.npos : name.find(given);
  if (begin == name.npos) return false;
  const std::size_t end = begin + given.size();
  return (begin == 0 || !is_alphanumeric(name[begin - 1])) &&
         (end == name.size() || !is_alphanumeric(name[end]));
}

}  // namespace

std::string closest_name(std::string_view given, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (has_words(name, given)) return name;
  }
  std::string best;
  // A third of the letters may be wrong; beyond that a suggestion is a guess.
  std::size_t least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    // The distance is at least the difference in length.
    if (name.size() + least <= given.size() || given.size() + least <= name.size()) continue;
    const std::size_t distance = edit_distance(given, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string allowed_names(std::string_view given, const std::vector<std::string>& names) {
  if (names.empty()) return "nothing is allowed here";
  const std::string closest = closest_name(given, names);
  std::string text = closest.empty() ? "allowed: " : "did you mean '" + closest + "'? Allowed: ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

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

std::string escape_markup(std::string_view text, std::string_view kept) {
  std::string result;
  for (const char c : printable(text, kept)) {
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

namespace {

/// Characters, not bytes, of UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::string>& right) {
  std::vector<std::vector<std::string>> lines = {header};
  lines.insert(lines.end(), rows.begin(), rows.end());
  for (std::vector<std::string>& line : lines) {
    for (std::string& cell : line) cell = printable(cell);
  }
  std::vector<std::size_t> widest(header.size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < widest.size(); ++i) widest[i] = std::max(widest[i], width(line[i]));
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    std::string out;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string gap(widest[i] - width(line[i]), ' ');
      const bool is_right = std::count(right.begin(), right.end(), header[i]) > 0;
      out += (i == 0 ? "" : "  ") + (is_right ? gap + line[i] : line[i] + gap);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits off the front of `text` and says how many there were.
std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// -?(0|[1-9][0-9]*), taken off the front.
bool take_integer(std::string_view& text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero_first = text.starts_with('0');
  const std::size_t digits = take_digits(text);
  return digits == 1 || (digits > 1 && !zero_first);
}

bool take_fraction(std::string_view& text) {
  if (!text.starts_with('.')) return true;
  text.remove_prefix(1);
  return take_digits(text) > 0;
}

bool take_exponent(std::string_view& text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return true;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return take_digits(text) > 0;
}

template <class T>
std::optional<T> convert(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::string_view rest = text;
  if (!take_integer(rest) || !rest.empty()) return std::nullopt;
  return convert<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
  std::string_view rest = text;
  if (!take_integer(rest) || !take_fraction(rest) || !take_exponent(rest) || !rest.empty()) {
    return std::nullopt;
  }
  return convert<double>(text);
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string format_number(double value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

}  // namespace headroom
