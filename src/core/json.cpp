// SPDX-License-Identifier: Apache-2.0
#include "src/core/json.h"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// A message that quotes the text may hold any byte of it, and all of it.
[[noreturn]] void refuse(std::string message) {
  constexpr std::size_t kMaxBytes = 300;
  if (message.size() > kMaxBytes) message = message.substr(0, kMaxBytes) + "...";
  for (char& c : message) {
    if (c < ' ' || c > '~') c = '?';
  }
  throw JsonError(message);
}

/// Builds the value out of the parser's events. The library's own way to a document would keep the
/// last of two equal keys, and would search an ordered object once for each key.
class ValueBuilder {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit ValueBuilder(const JsonLimits& limits) : limits_(limits) {}

  Json take() { return std::move(root_); }

  // The names are the library's.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(value); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > INT64_MAX) refuse("an integer beyond 64 bits");
    return add(value);
  }
  bool number_float(number_float_t value, const string_t& text) {
    // Integers that fit no 64 bits arrive here, rounded.
    if (text.find_first_of(".eE") == string_t::npos) refuse("an integer beyond 64 bits");
    return add(value);
  }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t&) { return false; }  // no JSON text has it
  bool start_object(std::size_t) { return start(Json::object()); }
  bool start_array(std::size_t) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(string_t& name) {
    if (!open_.back().keys.insert(name).second) refuse("the key '" + name + "' stands twice");
    open_.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    refuse(error.what());
  }

 private:
  struct Open {
    Json value;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  bool count() {
    if (++values_ > limits_.values) {
      refuse("more than " + std::to_string(limits_.values) + " values");
    }
    return true;
  }

  bool add(Json value) {
    count();
    place(std::move(value));
    return true;
  }

  bool start(Json empty) {
    count();
    if (open_.size() == limits_.depth) {
      refuse("nested deeper than " + std::to_string(limits_.depth) + " levels");
    }
    open_.push_back({.value = std::move(empty), .key = {}, .keys = {}});
    return true;
  }

  bool end() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    place(std::move(value));
    return true;
  }

  void place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& parent = open_.back(); parent.value.is_array()) {
      parent.value.push_back(std::move(value));
    } else {
      // Not through the object's own search: `keys` has seen to it that the key is new.
      parent.value.get_ref<Json::object_t&>().emplace_back(std::move(parent.key), std::move(value));
    }
  }

  JsonLimits limits_;
  std::vector<Open> open_;
  Json root_;
  std::size_t values_ = 0;
};

}  // namespace

Json read_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    refuse("too large; at most " + std::to_string(limits.bytes) + " bytes are allowed");
  }
  // The library skips a byte order mark, and takes a NUL for the end of the text.
  if (text.starts_with(kUtf8ByteOrderMark)) refuse("a byte order mark");
  if (text.find('\0') != std::string_view::npos) refuse("a NUL byte");
  ValueBuilder builder(limits);
  Json::sax_parse(text, &builder);
  return builder.take();
}

const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

const Json& member_at(const Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Json& value = member(object, path.substr(0, dot));
  return dot == std::string_view::npos ? value : member_at(value, path.substr(dot + 1));
}

namespace {

/// \u202e; beyond 16 bits a pair of surrogates.
std::string json_escape(char32_t value) {
  if (value <= 0xFFFF) return "\\u" + to_hex(value, 4);
  return json_escape(0xD7C0 + (value >> 10)) + json_escape(0xDC00 + (value & 0x3FF));
}

}  // namespace

std::string json_text(const Json& document) {
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    const std::string_view bytes = rest.substr(0, point.bytes);
    const bool is_shown = !must_be_escaped(point.value) || point.value == '\n';
    result += is_shown ? std::string(bytes) : json_escape(point.value);
    rest.remove_prefix(bytes.size());
  }
  return result + "\n";
}

namespace {

using Json = nlohmann::ordered_json;

/// Equal whatever the order of the members.
bool are_equal(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

void add_differences(const std::string& path, const Json& old_value, const Json& new_value,
                     std::vector<JsonDifference>& list) {
  if (!old_value.is_object() || !new_value.is_object()) {
    if (!are_equal(old_value, new_value)) list.push_back({path, old_value, new_value});
    return;
  }
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [name, value] : old_value.items()) {
    const auto other = new_value.find(name);
    if (other == new_value.end()) {
      list.push_back({prefix + name, value, Json(), false});
    } else {
      add_differences(prefix + name, value, *other, list);
    }
  }
  for (const auto& [name, value] : new_value.items()) {
    if (!old_value.contains(name)) list.push_back({prefix + name, Json(), value, false});
  }
}

}  // namespace

std::string JsonDifference::text() const {
  const auto side = [&](const Json& value) {
    return !is_in_both && value.is_null() ? "missing" : value.dump();
  };
  return (path.empty() ? "it" : path) + " was " + side(old_value) + " and is " + side(new_value);
}

std::vector<JsonDifference> differences(const Json& old_document, const Json& new_document) {
  std::vector<JsonDifference> list;
  add_differences("", old_document, new_document, list);
  return list;
}

}  // namespace headroom
