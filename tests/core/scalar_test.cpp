// SPDX-License-Identifier: Apache-2.0
#include "src/core/text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace headroom {
namespace {

TEST(Scalar, ReadsIntegers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-17"), -17);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(Scalar, RefusesWhatIsNoInteger) {
  for (const char* text : {"",
                           "-",
                           "+1",
                           "010",
                           "-01",
                           "0x10",
                           "0o7",
                           "1_000",
                           "1,000",
                           "1.0",
                           "1e3",
                           " 1",
                           "1 ",
                           "1\n",
                           "yes",
                           "null",
                           "~",
                           "--1",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "99999999999999999999999",
                           "\xD9\xA1"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << "'" << text << "'";
  }
  EXPECT_EQ(parse_integer(std::string_view("1\0", 2)), std::nullopt);
}

TEST(Scalar, ReadsNumbers) {
  EXPECT_EQ(parse_number("5.0e-5"), 5.0e-5);
  EXPECT_EQ(parse_number("1e-5"), 1e-5);
  EXPECT_EQ(parse_number("1E+5"), 1e5);
  EXPECT_EQ(parse_number("-0.25"), -0.25);
  EXPECT_EQ(parse_number("4"), 4.0);
}

TEST(Scalar, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"",      ".5",     "5.",     "1e",   "1e+",  "1.e5", "+1.0", "010",      "00.5",
        "0x1p3", "1_0.0",  ".nan",   ".inf", "nan",  "inf",  "-inf", "infinity", "NaN",
        "1e400", "-1e400", "1e-400", "1,5",  "1.5f", " 1.5", "1.5 ", "true",     "1.2.3"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Scalar, ReadsBooleans) {
  EXPECT_EQ(parse_boolean("true"), true);
  EXPECT_EQ(parse_boolean("false"), false);
  for (const char* text : {"", "yes", "no", "on", "off", "True", "TRUE", "y", "1", "0", "true "}) {
    EXPECT_EQ(parse_boolean(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Scalar, FormatsSoThatTheValueComesBack) {
  EXPECT_EQ(format_number(0.1), "0.1");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.125}) {
    EXPECT_EQ(parse_number(format_number(value)), value) << value;
  }
}

TEST(Scalar, IgnoresTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    found = true;
    EXPECT_EQ(parse_number("1.5"), 1.5) << name;
    EXPECT_EQ(parse_number("1,5"), std::nullopt) << name;
    EXPECT_EQ(format_number(1.5), "1.5") << name;
  }
  std::setlocale(LC_ALL, before.c_str());
  if (!found) GTEST_SKIP() << "this system has no other locale";
}

}  // namespace
}  // namespace headroom
