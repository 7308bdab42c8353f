// SPDX-License-Identifier: Apache-2.0
#include "src/core/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/text.h"

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

constexpr const char* kPlainOnly = "; only plain maps, lists, texts and numbers are allowed";

// yaml-cpp counts from 0, and -1 stands for no position.
Place place_of(const YAML::Mark& mark, const std::string& file) {
  return {.file = file, .line = mark.line + 1, .column = mark.column + 1};
}

/// A map or a list that is not closed yet.
struct Open {
  Node node;
  Member next;  // of a map: the key whose value comes next
  bool has_key = false;
  std::unordered_set<std::string> keys;

  bool awaits_key() const { return node.kind == Node::Kind::map && !has_key; }
};

/// Builds the tree out of yaml-cpp's events and refuses what the strict part lacks. yaml-cpp itself
/// accepts all of it in silence: of two equal keys it keeps the first.
class NodeBuilder final : public YAML::EventHandler {
 public:
  NodeBuilder(std::string_view source, const std::string& file) : source_(source), file_(file) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (done_) refuse(mark, "a second document; a file holds one");
  }
  void OnDocumentEnd() override { done_ = true; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_properties(mark, anchor);
    if (open_.empty()) refuse(mark, "the file is empty; a map is allowed here");
    if (open_.back().awaits_key()) refuse(mark, "a key is missing; a text is allowed as a key");
    if (!open_.back().has_key) refuse(mark, "a list's value is missing (null is not allowed)");
    throw ConfigError(open_.back().next.place, "the value of '" + open_.back().next.key +
                                                   "' is missing (null is not allowed); give one, "
                                                   "or leave the key out");
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, std::string("an alias (*name)") + kPlainOnly);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_properties(mark, anchor);
    check_quote(mark);
    check_scalar(mark, value);
    count(mark);
    const bool quoted = tag == "!";
    if (!open_.empty() && open_.back().awaits_key()) return add_key(mark, value, quoted);
    Node node;
    node.place = place_of(mark, file_);
    node.text = value;
    node.quoted = quoted;
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(mark, anchor, Node::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(mark, anchor, Node::Kind::map);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    throw ConfigError(place_of(mark, file_), message);
  }

  // A value's mark stands at its anchor or tag where it has one. A lone ! changes no event that
  // yaml-cpp sends, hence the look at the source.
  void check_properties(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) refuse(mark, std::string("an anchor (&name)") + kPlainOnly);
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at < source_.size() && source_[at] == '!') {
      refuse(mark, std::string("a tag (!name)") + kPlainOnly);
    }
  }

  // yaml-cpp 0.7 takes the end of the text for the end of a quoted scalar.
  void check_quote(const YAML::Mark& mark) const {
    auto at = static_cast<std::size_t>(mark.pos);
    if (at >= source_.size() || (source_[at] != '"' && source_[at] != '\'')) return;
    const char quote = source_[at];
    while (++at < source_.size()) {
      const bool escape = quote == '"' ? source_[at] == '\\' : source_.substr(at).starts_with("''");
      if (!escape && source_[at] == quote) return;
      if (escape) ++at;
    }
    refuse(mark, "the quote is not closed");
  }

  // Escapes ("\x07") can bring in what the source may not hold.
  void check_scalar(const YAML::Mark& mark, std::string_view value) const {
    if (value.size() > YamlLimits::kScalarBytes) {
      refuse(mark, "a text of " + std::to_string(value.size()) + " bytes; at most " +
                       std::to_string(YamlLimits::kScalarBytes) + " are allowed");
    }
    while (!value.empty()) {
      const CodePoint point = decode_utf8(value);
      if (point.bytes == 0 || (is_control(point.value) && point.value != '\n')) {
        refuse(mark, "an escape that stands for a control character or for no character");
      }
      value.remove_prefix(point.bytes);
    }
  }

  void count(const YAML::Mark& mark) {
    if (++nodes_ > YamlLimits::kNodes) {
      refuse(mark, "more than " + std::to_string(YamlLimits::kNodes) + " values");
    }
  }

  void add_key(const YAML::Mark& mark, const std::string& key, bool quoted) {
    Open& map = open_.back();
    if (key == "<<" && !quoted) refuse(mark, std::string("a merge key (<<)") + kPlainOnly);
    if (!map.keys.insert(key).second) {
      refuse(mark, "the key '" + key + "' stands twice in this map; each key is allowed once");
    }
    map.next.key = key;
    map.next.place = place_of(mark, file_);
    map.has_key = true;
  }

  void start(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    check_properties(mark, anchor);
    count(mark);
    if (open_.size() == YamlLimits::kDepth) {
      refuse(mark, "nested deeper than " + std::to_string(YamlLimits::kDepth) + " levels");
    }
    if (open_.empty() && kind != Node::Kind::map) refuse(mark, "a list; the file must be a map");
    if (!open_.empty() && open_.back().awaits_key()) {
      refuse(mark, "a map or list as a key; only a text is allowed");
    }
    Open open;
    open.node.kind = kind;
    open.node.place = place_of(mark, file_);
    open_.push_back(std::move(open));
  }

  void end() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (open_.empty()) {
      if (node.kind != Node::Kind::map) {
        throw ConfigError(node.place, describe(node) + "; the file must be a map");
      }
      root_ = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else {
      parent.next.value = std::move(node);
      parent.node.members.push_back(std::exchange(parent.next, {}));
      parent.has_key = false;
    }
  }

  std::string_view source_;
  const std::string& file_;
  std::vector<Open> open_;
  Node root_;
  std::size_t nodes_ = 0;
  bool done_ = false;
};

/// Why a character may not stand in the source; empty: it may.
std::string fault_of(const CodePoint& point, std::string_view rest) {
  if (point.bytes == 0) return "no valid UTF-8; save the file as UTF-8";
  if (point.value == '\t') return "a tab; use spaces";
  if (point.value == '\n' || rest.starts_with("\r\n")) return {};
  if (is_control(point.value)) return "a control character; only printable text is allowed";
  return {};
}

/// Checks every character. yaml-cpp would pass on invalid UTF-8 and control characters, guess
/// UTF-16, and act on directives without an event.
void check_source(std::string_view text, const std::string& file) {
  Place place{.file = file, .line = 1, .column = 1};
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (place.column == 1 && rest.front() == '%') {
      throw ConfigError(place, std::string("a directive (%)") + kPlainOnly);
    }
    const CodePoint point = decode_utf8(rest);
    const std::string fault = fault_of(point, rest);
    if (!fault.empty()) throw ConfigError(place, fault);
    at += point.bytes;
    place.column += static_cast<int>(point.bytes);
    if (point.value == '\n') {
      ++place.line;
      place.column = 1;
    }
  }
}

}  // namespace

Node read_yaml(std::string_view text, const std::string& file) {
  if (text.size() > YamlLimits::kBytes) {
    throw ConfigError(
        Place{.file = file},
        "too large; at most " + std::to_string(YamlLimits::kBytes) + " bytes are allowed");
  }
  if (text.starts_with(kUtf8ByteOrderMark)) text.remove_prefix(kUtf8ByteOrderMark.size());
  check_source(text, file);
  std::istringstream stream{std::string(text)};
  NodeBuilder builder(text, file);
  try {
    YAML::Parser parser(stream);
    const Place start{.file = file, .line = 1, .column = 1};
    if (!parser.HandleNextDocument(builder)) {
      throw ConfigError(start, "the file is empty; a map is allowed here");
    }
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw ConfigError(place_of(error.mark, file), "no YAML: " + error.msg);
  }
  return builder.take();
}

Node read_yaml_file(const std::string& path) {
  return read_yaml(read_file(path, YamlLimits::kBytes), path);
}

}  // namespace headroom
