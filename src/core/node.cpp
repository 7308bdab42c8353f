// SPDX-License-Identifier: Apache-2.0
#include "src/core/node.h"

#include <array>
#include <charconv>

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
