// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "src/core/error.h"
#include "src/core/yaml.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

/// A text that must be refused, with the place and a part of the message.
struct Hostile {
  const char* what;
  std::string text;
  const char* place;  // "line:column"
  const char* part;
};

std::string fill(const std::string& text, std::size_t bytes) {
  std::string result;
  while (result.size() + text.size() <= bytes) result += text;
  return result;
}

std::string wide_map(int keys) {
  std::string text;
  for (int i = 0; i < keys; ++i) text += "k" + std::to_string(i) + ": 1\n";
  return text;
}

void expect_refused(const Hostile& hostile) {
  const auto start = std::chrono::steady_clock::now();
  const std::string message = message_of<ConfigError>([&] { read_yaml(hostile.text, "s.yaml"); });
  const auto taken = std::chrono::steady_clock::now() - start;
  const std::string place = *hostile.place == 0 ? "" : std::string(":") + hostile.place;
  EXPECT_TRUE(message.starts_with("s.yaml" + place + ": ")) << hostile.what << ": " << message;
  EXPECT_TRUE(contains(message, hostile.part)) << hostile.what << ": " << message;
  EXPECT_LT(taken, std::chrono::seconds(1)) << hostile.what;
}

TEST(YamlHostile, WhatIsNoSingleMapIsRefused) {
  const Hostile table[] = {
      {"empty", "", "1:1", "the file is empty"},
      {"spaces", "  \n \n", "1:1", "the file is empty"},
      {"only comments", "# a\n# b\n", "1:1", "the file is empty"},
      {"only a mark", "---\n", "2:1", "the file is empty"},
      {"null", "~\n", "1:1", "the file is empty"},
      {"scalar", "hello\n", "1:1", "the file must be a map"},
      {"list", "- a\n", "1:1", "the file must be a map"},
      {"flow list", "[a]\n", "1:1", "the file must be a map"},
      {"two documents", "a: 1\n---\nb: 2\n", "2:1", "a second document"},
      {"empty second document", "a: 1\n---\n", "2:1", "a second document"},
      {"second after an end", "a: 1\n...\nb: 2\n", "3:1", "a second document"},
      {"leftover bracket", "{a: 1} }\n", "1:8", "no YAML"},
  };
  for (const Hostile& hostile : table) expect_refused(hostile);
}

TEST(YamlHostile, WhatTheStrictPartLacksIsRefused) {
  const Hostile table[] = {
      {"anchor", "a: &x 1\n", "1:4", "an anchor"},
      {"anchor on a list", "a: &x [1]\n", "1:4", "an anchor"},
      {"anchor on a map", "a: &x {b: 1}\n", "1:4", "an anchor"},
      {"anchor on a key", "&x a: 1\n", "1:1", "an anchor"},
      {"anchor on nothing", "a: &x\n", "1:4", "an anchor"},
      {"alias", "a: [1]\nb: *x\n", "2:4", "anchor is not defined"},
      {"cycle", "a: &a [*a]\n", "1:4", "an anchor"},
      {"bomb", "a0: &a0 [x,x]\na1: [*a0,*a0]\n", "1:5", "an anchor"},
      {"merge key", "a: {<<: {b: 1}}\n", "1:5", "a merge key"},
      {"tag", "a: !!python/object:os.system x\n", "1:4", "a tag"},
      {"local tag", "a: !x y\n", "1:4", "a tag"},
      {"verbatim tag", "a: !<tag:x> y\n", "1:4", "a tag"},
      {"lone tag", "a: ! y\n", "1:4", "a tag"},
      {"tag on a list", "a: !!seq [1]\n", "1:4", "a tag"},
      {"tag on a map", "a: !!map {b: 1}\n", "1:4", "a tag"},
      {"tag on a key", "!!str a: 1\n", "1:1", "a tag"},
      {"tag on quotes", "a: !!int \"1\"\n", "1:4", "a tag"},
      {"version directive", "%YAML 1.2\n---\na: 1\n", "1:1", "a directive"},
      {"tag directive", "%TAG ! tag:x,2000:\n---\na: 1\n", "1:1", "a directive"},
      {"unknown directive", "# c\n%FOO bar\n---\na: 1\n", "2:1", "a directive"},
      {"map as a key", "{a: 1}: 2\n", "1:1", "as a key"},
      {"list as a key", "b:\n  ? [a]\n  : 2\n", "2:5", "as a key"},
      {"missing key", ": 1\n", "1:1", "a key is missing"},
      {"null key", "~: 1\n", "1:1", "a key is missing"},
      {"null value", "a: 1\nb: null\n", "2:1", "the value of 'b' is missing"},
      {"no value", "a:\nb: 1\n", "1:1", "the value of 'a' is missing"},
      {"tilde", "a: {b: ~}\n", "1:5", "the value of 'b' is missing"},
      {"no value in flow", "a: {b, c: 1}\n", "1:5", "the value of 'b' is missing"},
      {"null in a list", "a: [1, ~]\n", "1:8", "a list's value is missing"},
      {"duplicate key", "a: 1\nb: 2\na: 3\n", "3:1", "'a' stands twice"},
      {"duplicate key below", "a: {c: 1, c: 1}\n", "1:11", "'c' stands twice"},
      {"duplicate quoted key", "a: 1\n\"\\x61\": 2\n", "2:1", "'a' stands twice"},
  };
  for (const Hostile& hostile : table) expect_refused(hostile);
}

TEST(YamlHostile, WhatIsNoPlainTextIsRefused) {
  const std::string nul("a: \0\n", 5);
  const std::string utf16(
      "\xFF\xFE"
      "a\0:\0 \0"
      "1\0",
      10);
  const Hostile table[] = {
      {"NUL", nul, "1:4", "control character"},
      {"escape character", "a: x\x1b[31m\n", "1:5", "control character"},
      {"delete", "a: \x7f\n", "1:4", "control character"},
      {"next line", "a: \xC2\x85\n", "1:4", "control character"},
      {"carriage return", "a: 1\rb: 2\n", "1:5", "control character"},
      {"byte order mark inside", "a: \xEF\xBB\xBFx\n", "1:4", "control character"},
      {"invalid UTF-8", "a: 1\nb: \xFFx\n", "2:4", "no valid UTF-8"},
      {"overlong UTF-8", "a: \xC0\xAF\n", "1:4", "no valid UTF-8"},
      {"surrogate", "a: \xED\xA0\x80\n", "1:4", "no valid UTF-8"},
      {"UTF-16 with a mark", utf16, "1:1", "no valid UTF-8"},
      {"UTF-16 big endian", std::string("\xFE\xFF\0a", 4), "1:1", "no valid UTF-8"},
      {"UTF-16 without a mark", std::string("a\0:\0", 4), "1:2", "control character"},
      {"UTF-32", std::string("\0\0\xFE\xFF", 4), "1:1", "control character"},
      {"tab as indentation", "a:\n\tb: 1\n", "2:1", "a tab"},
      {"tab before a value", "a:\t1\n", "1:3", "a tab"},
      {"tab in a comment", "a: 1 #\tx\n", "1:7", "a tab"},
      {"escaped NUL", "a: \"\\0\"\n", "1:4", "an escape"},
      {"escaped bell", "a: \"\\x07\"\n", "1:4", "an escape"},
      {"escaped tab", "a: \"\\t\"\n", "1:4", "an escape"},
      {"escaped key", "\"a\\x1b\": 1\n", "1:1", "an escape"},
  };
  for (const Hostile& hostile : table) expect_refused(hostile);
}

TEST(YamlHostile, SyntaxErrorsHaveAPlace) {
  const Hostile table[] = {
      {"unclosed list", "a: [1, 2\n", "1:8", "'2' is missing"},
      {"unclosed map", "a: {b: 1\n", "2:1", "no YAML"},
      {"unclosed quote", "a: \"x\n", "1:4", "the quote is not closed"},
      {"unclosed quote after an escape", "a: \"x\\\"\n", "1:4", "the quote is not closed"},
      {"unclosed single quote", "a: 'it''s\n", "1:4", "the quote is not closed"},
      {"wrong indentation", "a:\n    b: 1\n  c: 2\n", "3:", "no YAML"},
      {"two values", "a: b: c\n", "1:5", "no YAML"},
      {"bad escape", "a: \"\\q\"\n", "1:", "no YAML"},
      {"bracket", "a: ]\n", "1:", "no YAML"},
      {"at sign", "a: @x\n", "1:4", "no YAML"},
      {"escaped surrogate", "a: \"\\ud800\"\n", "1:", "no YAML"},
  };
  for (const Hostile& hostile : table) {
    const std::string message = message_of<ConfigError>([&] { read_yaml(hostile.text, "s.yaml"); });
    EXPECT_TRUE(message.starts_with(std::string("s.yaml:") + hostile.place)) << message;
    EXPECT_TRUE(contains(message, hostile.part)) << message;
  }
}

// Each of these costs time or memory out of all proportion where nobody counts.
TEST(YamlHostile, WhatIsTooMuchIsRefusedAtOnce) {
  constexpr std::size_t kMax = YamlLimits::kBytes;
  const Hostile table[] = {
      {"too many bytes", std::string(kMax + 1, '\n'), "", "too large"},
      {"a million brackets", std::string(1'000'000, '['), "", "too large"},
      {"17 levels", "a: " + std::string(16, '[') + std::string(16, ']'), "1:19", "deeper than 16"},
      {"brackets", "a: " + std::string(kMax - 3, '['), "", "s.yaml"},
      {"braces", std::string(kMax, '{'), "", "a map or list as a key"},
      {"maps in lists", "a: " + fill("[{a: ", kMax - 3), "", "s.yaml"},
      {"dashes", "a:\n " + fill("- ", kMax - 4), "", "deeper than 16"},
      {"question marks", fill("? ", kMax), "", "as a key"},
      {"many keys", wide_map(20'000), "", "more than 10000 values"},
      {"many items", "a: [" + fill("x,", kMax - 4), "", "more than 10000 values"},
      {"one value too many", "a: [" + fill("x,", 2 * 9998) + "]", "", "more than 10000 values"},
      {"a long text", "a: " + std::string(1025, 'x'), "1:4", "at most 1024"},
      {"a long key", std::string(1025, 'x') + ": 1", "", "s.yaml"},
      {"a text of many lines", "a: " + fill("x\n ", kMax - 3), "1:4", "at most 1024"},
      {"a quoted text", "a: \"" + std::string(kMax - 5, 'x') + "\"", "1:4", "at most 1024"},
      {"an unclosed text", "a: '" + std::string(kMax - 4, 'x'), "", "no YAML"},
      {"quotes", std::string(kMax, '\''), "", "s.yaml"},
      {"ampersands", std::string(kMax, '&'), "", "s.yaml"},
      {"exclamation marks", std::string(kMax, '!'), "", "s.yaml"},
      {"asterisks", std::string(kMax, '*'), "", "s.yaml"},
      {"directives", fill("%A\n", kMax), "1:1", "a directive"},
      {"documents", "a: 1\n" + fill("---\n", kMax - 5), "2:1", "a second document"},
      {"colons", fill(": ", kMax), "", "s.yaml"},
      {"spaces", std::string(kMax, ' '), "1:1", "empty"},
      {"a text far to the right", std::string(kMax - 1, ' ') + "a", "", "must be a map"},
      {"escapes", "a: \"" + fill("\\x41", kMax - 5) + "\"", "1:4", "at most 1024"},
  };
  for (const Hostile& hostile : table) {
    const auto start = std::chrono::steady_clock::now();
    const std::string message = message_of<ConfigError>([&] { read_yaml(hostile.text, "s.yaml"); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << hostile.what;
    EXPECT_TRUE(message.starts_with(std::string("s.yaml:") + hostile.place)) << message;
    EXPECT_TRUE(contains(message, hostile.part)) << hostile.what << ": " << message;
    EXPECT_LT(message.size(), 2000u) << hostile.what;
  }
}

}  // namespace
}  // namespace headroom
