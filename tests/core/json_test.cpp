// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "src/core/json.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

std::string refusal_of_json(const std::string& text, const JsonLimits& limits = {}) {
  return message_of<JsonError>([&] { read_json(text, limits); });
}

TEST(JsonReader, KeepsTheOrderAndTheValues) {
  const std::string text = R"({"b":1,"a":[true,null,"x\n",-2,0.5,{}],"c":{"z":1,"y":[]}})";
  EXPECT_EQ(read_json(text).dump(), text);
  EXPECT_EQ(read_json(" 7 \n").get<int>(), 7);
  EXPECT_EQ(read_json("9223372036854775807").get<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(read_json("-9223372036854775808").get<std::int64_t>(), INT64_MIN);
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "[1] 2",
                           "{}{}",
                           "nan",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "01",
                           "+1",
                           ".5",
                           "1.",
                           "0x1",
                           "tru",
                           "\"a",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\xFF\"",
                           "\"\xED\xA0\x80\"",
                           "// c\n1",
                           "/* c */ 1",
                           "[1 2]",
                           "\xEF\xBB\xBF{}"}) {
    EXPECT_THROW(read_json(text), JsonError) << text;
  }
  EXPECT_THROW(read_json(std::string_view("{}\0", 3)), JsonError);
  EXPECT_THROW(read_json(std::string_view("{}\0 x", 5)), JsonError);
}

TEST(JsonReader, RefusesDuplicateKeysAtEveryLevel) {
  EXPECT_TRUE(contains(refusal_of_json(R"({"a":1,"a":1})"), "'a' stands twice"));
  EXPECT_TRUE(contains(refusal_of_json(R"([{"x":{"k":1,"k":2}}])"), "'k' stands twice"));
  EXPECT_TRUE(contains(refusal_of_json(R"({"a":1,"\u0061":1})"), "'a' stands twice"));
  EXPECT_EQ(read_json(R"({"a":{"a":{"a":1}}})").dump(), R"({"a":{"a":{"a":1}}})");
}

TEST(JsonReader, RefusesNumbersThatDoNotFit) {
  EXPECT_TRUE(contains(refusal_of_json("9223372036854775808"), "beyond 64 bits"));
  EXPECT_TRUE(contains(refusal_of_json("18446744073709551616"), "beyond 64 bits"));
  EXPECT_TRUE(contains(refusal_of_json("-9223372036854775809"), "beyond 64 bits"));
  EXPECT_THROW(read_json("1e400"), JsonError);
}

TEST(JsonReader, KeepsItsLimits) {
  EXPECT_NO_THROW(read_json(repeat("[", 64) + repeat("]", 64)));
  EXPECT_TRUE(contains(refusal_of_json(repeat("[", 65) + repeat("]", 65)), "deeper than 64"));
  EXPECT_TRUE(contains(refusal_of_json(repeat("{\"a\":", 65)), "deeper than 64"));
  EXPECT_TRUE(contains(refusal_of_json("[1,2,3]", {.bytes = 6}), "at most 6 bytes"));
  EXPECT_TRUE(contains(refusal_of_json("[1,2,3]", {.values = 3}), "more than 3 values"));
  EXPECT_NO_THROW(read_json("[1,2,3]", {.values = 4}));
}

TEST(JsonReader, IsLinear) {
  std::string wide = "{";
  for (int i = 0; i < 200'000; ++i) wide += "\"k" + std::to_string(i) + "\":0,";
  wide.back() = '}';
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_json(wide, {.bytes = 1 << 24}).size(), 200'000u);
  EXPECT_TRUE(contains(refusal_of_json(repeat("[", 1 << 20)), "deeper"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(JsonReader, MessagesStayShortAndPrintable) {
  const std::string message = refusal_of_json("{\"" + std::string(100'000, '\x01'));
  EXPECT_LT(message.size(), 400u);
  for (const char c : refusal_of_json("[\"\x1b[31m\xFF")) EXPECT_TRUE(c >= ' ' && c <= '~');
}

using Json = nlohmann::ordered_json;

TEST(JsonDifference, OfEqualDocumentsIsNoneWhateverTheirOrder) {
  EXPECT_TRUE(differences(Json::parse(R"({"a": 1, "b": {"c": [1, {"d": 2, "e": 3}]}})"),
                          Json::parse(R"({"b": {"c": [1, {"e": 3, "d": 2}]}, "a": 1})"))
                  .empty());
}

TEST(JsonDifference, SaysWhereAndWhat) {
  const auto list = differences(Json::parse(R"({"a": {"b": 1, "old": null}, "list": [1]})"),
                                Json::parse(R"({"a": {"b": 2}, "list": [1, 2], "new": "x"})"));
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].text(), "a.b was 1 and is 2");
  EXPECT_TRUE(list[0].is_in_both);
  EXPECT_EQ(list[1].text(), "a.old was missing and is missing");
  EXPECT_FALSE(list[1].is_in_both);
  EXPECT_EQ(list[2].text(), "list was [1] and is [1,2]");
  EXPECT_EQ(list[3].text(), "new was missing and is \"x\"");
}

TEST(JsonDifference, OfWholeDocumentsHasNoPath) {
  const auto list = differences(1, "1");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].text(), "it was 1 and is \"1\"");
}

TEST(JsonText, reads_back_and_steers_no_terminal) {
  const nlohmann::ordered_json document = {
      {"a\u009b", "\x1b\x7f\u0080\u202e\ufeff\uffff\U0001fffe \u00e9\n"},
      {"list", {1, nullptr, "\U0001f40d"}}};
  const std::string text = json_text(document);
  EXPECT_EQ(
      text,
      "{\n  \"a\\u009b\": \"\\u001b\\u007f\\u0080\\u202e\\ufeff\\uffff\\ud83f\\udffe \u00e9\\n\",\n"
      "  \"list\": [\n    1,\n    null,\n    \"\U0001f40d\"\n  ]\n}\n");
  EXPECT_EQ(read_json(text), document);
}

TEST(JsonText, holds_bytes_that_are_no_utf_8) {
  EXPECT_EQ(json_text(nlohmann::ordered_json::array({"a\xff"})), "[\n  \"a\ufffd\"\n]\n");
}

}  // namespace

}  // namespace headroom
