// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "src/core/text.h"

namespace headroom {
namespace {

TEST(Bytes, FormatsForPeople) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024), "1.00 MiB");
  EXPECT_EQ(format_bytes(26'790'000'000), "24.95 GiB");
  EXPECT_EQ(format_bytes(-1536), "-1.50 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 45), "32768.00 GiB");
}

TEST(Utf8, DecodesTheEdgesOfEachLength) {
  EXPECT_EQ(decode_utf8("\x7F").value, 0x7Fu);
  EXPECT_EQ(decode_utf8("\xC2\x80").value, 0x80u);
  EXPECT_EQ(decode_utf8("\xDF\xBF").value, 0x7FFu);
  EXPECT_EQ(decode_utf8("\xE0\xA0\x80").value, 0x800u);
  EXPECT_EQ(decode_utf8("\xEF\xBF\xBD").value, 0xFFFDu);
  EXPECT_EQ(decode_utf8("\xF0\x90\x80\x80").value, 0x10000u);
  EXPECT_EQ(decode_utf8("\xF4\x8F\xBF\xBF").value, 0x10FFFFu);
}

TEST(Utf8, FindsWhatIsInvalid) {
  // A lone continuation, overlong forms, surrogates, beyond the last, cut short, no lead bytes.
  for (const char* text :
       {"ab\x80", "ab\xC0\x80", "ab\xC1\xBF", "ab\xE0\x80\x80", "ab\xED\xA0\x80", "ab\xED\xBF\xBF",
        "ab\xF0\x80\x80\x80", "ab\xF4\x90\x80\x80", "ab\xC3", "ab\xE2\x82", "ab\xF0\x9F\x98",
        "ab\xF8\x88\x80\x80\x80", "ab\xFE", "ab\xC3("}) {
    EXPECT_EQ(find_invalid_utf8(text), 2u) << text;
  }
  EXPECT_EQ(find_invalid_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
            std::string::npos);
}

TEST(Utf8, KnowsControlCharacters) {
  for (const char32_t value : {0x00, 0x07, 0x1B, 0x1F, 0x7F, 0x85, 0x9F, 0xFEFF}) {
    EXPECT_TRUE(is_control(value)) << std::size_t{value};
  }
  for (const char32_t value : {0x20, 0x7E, 0xA0, 0xE4, 0x1F600}) EXPECT_FALSE(is_control(value));
}

// C0, DEL, C1 (as UTF-8), marks of direction, marks that nobody sees, what is no character.
TEST(Printable, ShowsWhatCouldSteerATerminal) {
  using namespace std::string_literals;
  EXPECT_EQ(printable("a\0\t\x1b[2J\x7f"s), "a\\x00\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\u0080\u009b2J\u009f"), "\\u{80}\\u{9b}2J\\u{9f}");
  EXPECT_EQ(printable("\u200e\u200f\u202a\u202e\u2066\u2069\u061c"),
            "\\u{200e}\\u{200f}\\u{202a}\\u{202e}\\u{2066}\\u{2069}\\u{61c}");
  EXPECT_EQ(printable("\u200b\u2028\u2060\ufeff"), "\\u{200b}\\u{2028}\\u{2060}\\u{feff}");
  EXPECT_EQ(printable("\ufdd0\ufffe\uffff\U0001fffe"), "\\u{fdd0}\\u{fffe}\\u{ffff}\\u{1fffe}");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff\x9b"
                      "b\xc3"),
            "a\\xff\\x9b"
            "b\\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80\xc0\x80"), "\\xed\\xa0\\x80\\xc0\\x80");
}

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("a b ~ \u00a0 \u00e9 \u05d0 \ufffd \U0001f40d"),
            "a b ~ \u00a0 \u00e9 \u05d0 \ufffd \U0001f40d");
  EXPECT_EQ(printable("a\nb\tc\r", "\n\t"), "a\nb\tc\\x0d");
}

TEST(Escapes, HoldNothingThatIsNotPrintable) {
  EXPECT_EQ(escape_markup("<\u009b\uffff\xff\n"), "&lt;\\u{9b}\\u{ffff}\\xff\\x0a");
  EXPECT_EQ(escape_markup("a\nb", "\n"), "a\nb");
  EXPECT_EQ(escape_markdown("|\u202e\x1b"), "\\|\\\\u\\{202e\\}\\\\x1b");
}

const std::vector<std::string> kNames{"batch_size", "optimizer", "steps", "seed"};

TEST(Suggest, FindsTheMisspelt) {
  EXPECT_EQ(closest_name("batchsize", kNames), "batch_size");
  EXPECT_EQ(closest_name("optimiser", kNames), "optimizer");
  EXPECT_EQ(closest_name("step", kNames), "steps");
  EXPECT_EQ(closest_name("sede", kNames), "seed");
  EXPECT_EQ(closest_name("sgd", {"adam", "sdg"}), "sdg");
}

TEST(Suggest, FindsWhatIsNamedInPart) {
  EXPECT_EQ(closest_name("a100", {"a10", "a100-40gb", "a100-80gb"}), "a100-40gb");
  EXPECT_EQ(closest_name("a6000", {"rtx-8000", "rtx-a6000"}), "rtx-a6000");
}

TEST(Suggest, DoesNotGuess) {
  EXPECT_EQ(closest_name("100-40", {"a100-40gb"}), "");
  EXPECT_EQ(closest_name("learning_rate", kNames), "");
  EXPECT_EQ(closest_name("", kNames), "");
  EXPECT_EQ(closest_name(std::string(1000, 'x'), kNames), "");
}

TEST(Suggest, SaysWhatIsAllowed) {
  EXPECT_EQ(allowed_names("sed", {"seed", "steps"}), "did you mean 'seed'? Allowed: seed, steps");
  EXPECT_EQ(allowed_names("zzz", {"seed", "steps"}), "allowed: seed, steps");
  EXPECT_EQ(allowed_names("zzz", {}), "nothing is allowed here");
}

TEST(Table, aligns_columns_by_characters) {
  EXPECT_EQ(format_table({"name", "size"}, {{"é", "1"}, {"long name", "100000"}}, {"size"}),
            "name         size\n"
            "é               1\n"
            "long name  100000\n");
}

TEST(Table, has_no_spaces_at_line_ends_and_no_control_characters) {
  EXPECT_EQ(format_table({"a", "b"}, {{"x\ty", ""}}), "a       b\nx\\x09y\n");
  EXPECT_EQ(format_table({"\x1b"}, {{"\u009b"}}), "\\x1b\n\\u{9b}\n");
}

TEST(Reasons, stand_one_behind_the_other) {
  EXPECT_EQ(join_reasons("a", "b"), "a; b");
  EXPECT_EQ(join_reasons("a", ""), "a");
  EXPECT_EQ(join_reasons("", "b"), "b");
  EXPECT_EQ(join_reasons("", ""), "");
}

}  // namespace

}  // namespace headroom
