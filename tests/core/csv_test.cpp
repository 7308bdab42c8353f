// SPDX-License-Identifier: Apache-2.0
#include "src/core/csv.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

using Cells = std::vector<std::string>;

std::string refusal_of_csv(const std::string& text) {
  return message_of<ResultsError>([&] { read_csv(text, "r.csv"); });
}

TEST(Csv, QuotesWhereNeeded) {
  EXPECT_EQ(csv_line(Cells{"a", "", "1.5"}), "a,,1.5\n");
  EXPECT_EQ(csv_line(Cells{"a,b", "say \"x\"", "two\nlines", "cr\r"}),
            "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"cr\r\"\n");
  EXPECT_EQ(csv_line(Cells{""}), "\"\"\n");
}

TEST(Csv, GuardsFormulas) {
  EXPECT_EQ(csv_line(Cells{"=1+1", "+a", "-b", "@c", "\td"}), "'=1+1,'+a,'-b,'@c,'\td\n");
  EXPECT_EQ(csv_line(Cells{"=HYPERLINK(\"x\",1)"}), "\"'=HYPERLINK(\"\"x\"\",1)\"\n");
  EXPECT_EQ(csv_line(Cells{"-1.5", "-3", "-2e-5"}), "-1.5,-3,-2e-5\n");
  EXPECT_EQ(csv_line(Cells{"+1", "-1-1", "it's"}), "'+1,'-1-1,it's\n");
}

TEST(Csv, ReadsWhatItWrote) {
  const std::vector<Cells> rows{{"plain", "a,b", "\"", "\"\"", "x\ny", "x\r\ny"},
                                {"", "", "", "", "", ""},
                                {"=1", "'=1", "''=1", "'", "''", "'x"},
                                {"-1", "-x", "'-1", "\t", "\r", "@"},
                                {" a ", "+", "gr\xC3\xBC\xC3\x9F", ",", "\n", "a\"b"}};
  std::string text = csv_line(Cells{"c1", "c2", "c3", "c4", "c5", "c 6"});
  for (const Cells& row : rows) text += csv_line(row);
  const CsvTable table = read_csv(text, "r.csv");
  EXPECT_EQ(table.rows, rows);
  EXPECT_EQ(table.column("c 6"), 5);
  EXPECT_EQ(table.column("c7"), -1);
}

// Every text of up to 4 of the characters that matter.
TEST(Csv, ReadsBackEveryShortText) {
  const std::string letters = "='-1,\"\n\r\tx";
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < 4; ++i) {
    for (const char c : letters) texts.push_back(texts[i] + c);
  }
  std::string csv = csv_line(Cells{"a", "b"});
  for (const std::string& text : texts) csv += csv_line(Cells{text, text});
  const CsvTable table = read_csv(csv, "r.csv");
  ASSERT_EQ(table.rows.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(table.rows[i], (Cells{texts[i], texts[i]}));
    const std::string line = csv_line(Cells{texts[i]});
    const char first = line[line[0] == '"' ? 1 : 0];
    EXPECT_TRUE(first != '=' && first != '\t' && (first != '\r' || line[0] != '"')) << line;
  }
}

// RFC 4180 allows no control character in a cell but line breaks in quotes.
TEST(Csv, HoldsNothingThatSteersATerminal) {
  using namespace std::string_literals;
  const std::string line = csv_line(Cells{"\0=1"s, "\x1b]0;x\x07", "a\u009b,\u202e", "\uffff\xff"});
  EXPECT_EQ(line, "\\x00=1,\\x1b]0;x\\x07,\"a\\u{9b},\\u{202e}\",\\u{ffff}\\xff\n");
  const CsvTable table = read_csv(csv_line(Cells{"a", "b", "c", "d"}) + line, "r.csv");
  EXPECT_EQ(table.rows[0],
            (Cells{"\\x00=1", "\\x1b]0;x\\x07", "a\\u{9b},\\u{202e}", "\\u{ffff}\\xff"}));
  EXPECT_EQ(csv_line(Cells{"\x1b"}), "\\x1b\n");
}

TEST(Csv, ReadsOtherPeoplesFiles) {
  const CsvTable table = read_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,\"x\r\ny\"\r\n2,",
      "r.csv");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  EXPECT_EQ(table.rows, (std::vector<Cells>{{"1", "x\r\ny"}, {"2", ""}}));
  EXPECT_TRUE(read_csv("a", "r.csv").rows.empty());
}

TEST(Csv, NamesThePlaceOfAnError) {
  EXPECT_EQ(refusal_of_csv(""), "r.csv:1:1: the header is missing");
  EXPECT_EQ(refusal_of_csv("a,b\n1\n"), "r.csv:2:1: 1 cells; the header has 2");
  EXPECT_EQ(refusal_of_csv("a,b\n\"x\ny\",2\n1,2,3\n"), "r.csv:4:1: 3 cells; the header has 2");
  EXPECT_EQ(refusal_of_csv("a,b\n1,\"x\n"), "r.csv:2:3: the quote is not closed");
  EXPECT_EQ(refusal_of_csv("a,b\n1,\"x\"y\n"),
            "r.csv:2:6: expected a comma or the end of the line");
  EXPECT_EQ(refusal_of_csv("a,b\n1,x\"y\n"), "r.csv:2:4: expected a comma or the end of the line");
  EXPECT_EQ(refusal_of_csv("a,b\r1,2"), "r.csv:1:4: expected a comma or the end of the line");
  EXPECT_EQ(refusal_of_csv("a,a\n"), "r.csv:1:1: the column 'a' stands twice");
  EXPECT_EQ(refusal_of_csv("a,\n"), "r.csv:1:1: a column has no name");
  EXPECT_EQ(refusal_of_csv("a\nx\xFF\n"), "r.csv:2:2: no valid UTF-8");
}

// Cutting a file anywhere gives rows that were there, or an error; never another row.
TEST(Csv, NoCutInventsAFullRow) {
  const std::string text =
      csv_line(Cells{"a", "b"}) + csv_line(Cells{"x,y", "1\n2"}) + csv_line(Cells{"\"q\"", "=z"});
  const std::vector<Cells> rows = read_csv(text, "r.csv").rows;
  for (std::size_t size = 4; size < text.size(); ++size) {
    try {
      const CsvTable cut = read_csv(text.substr(0, size), "r.csv");
      for (std::size_t i = 0; i + 1 < cut.rows.size(); ++i) EXPECT_EQ(cut.rows[i], rows[i]);
    } catch (const ResultsError&) {
    }
  }
}

}  // namespace
}  // namespace headroom
