// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/compare/comparison.h"
#include "src/report/export.h"
#include "tests/compare/made_results.h"
#include "tests/support/program.h"

namespace headroom {
namespace {

std::vector<Results> results_of_all_ends() {
  return {results_of("s",
                     {ok_case("fine", 1, 1), ended_case("large", "out_of_memory", "8 GiB"),
                      ended_case("gpu", "unsupported", "no GPU"),
                      ended_case("a<\"b\">&\x1b", "crashed", "]]> <signal> \xC3\xA9\x01")},
                     {"later"}),
          results_of("t", {ended_case("off", "inactive", "did nothing")})};
}

/// One case of a hostile name is worse, one can't be told, one is the same.
std::string comparison_of_all_trends() {
  CaseResult grown = made_case("a|<b>\x1b[2J");
  CaseResult before = grown;
  grown.row["run_peak_allocated_bytes"] = 5 << 20;
  const CaseResult failed = ended_case("odd", "failed", "x");
  CaseResult same = made_case("same");
  same.row.erase("step_time_median_ns");  // of one process it can't be told
  return comparison_junit(
      compare({made_results({before, failed, same})},
              {made_results({grown, ended_case("odd", "crashed", "y"), same})}));
}

/// What xmllint answers of a text.
std::string asked(const std::string& xml, const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  std::vector<std::string> call = {"xmllint", "--nonet"};
  call.insert(call.end(), arguments.begin(), arguments.end());
  call.push_back(folder.write("junit.xml", xml));
  const Ended ended = Program("/usr/bin/env", call).wait();
  EXPECT_EQ(ended.code, 0) << ended.err << xml;
  return ended.out;
}

std::string asked(const std::string& xml, const std::string& xpath) {
  return asked(xml, std::vector<std::string>{"--xpath", "string(" + xpath + ")"});
}

TEST(Junit, fits_the_schema) {
  for (const std::string& xml :
       {junit_export(results_of_all_ends()), comparison_of_all_trends(), junit_export({})}) {
    asked(xml, {"--noout", "--schema", HEADROOM_SOURCE_DIR "/tests/report/junit.xsd"});
  }
}

TEST(Junit, fails_what_failed_and_skips_what_could_not_run) {
  const std::string xml = junit_export(results_of_all_ends());
  EXPECT_EQ(asked(xml, "count(//testcase)"), "6\n");
  EXPECT_EQ(asked(xml, "count(//testsuite/properties/property[@name='journal'])"), "2\n");
  EXPECT_EQ(asked(xml, "//testsuite[@name='t']//property/@value"), "out/t/journal.jsonl\n");
  EXPECT_EQ(asked(xml, "/testsuites/@tests"), "6\n");
  EXPECT_EQ(asked(xml, "/testsuites/@failures"), "2\n");
  EXPECT_EQ(asked(xml, "/testsuites/@skipped"), "2\n");
  EXPECT_EQ(asked(xml, "//testsuite[@name='s']/@failures"), "1\n");
  EXPECT_EQ(asked(xml, "count(//testcase[@name='fine']/*)"), "0\n");
  EXPECT_EQ(asked(xml, "//testcase[@name='large']/system-out"), "out_of_memory: 8 GiB\n");
  EXPECT_EQ(asked(xml, "//testcase[@name='gpu']/skipped/@message"), "unsupported: no GPU\n");
  EXPECT_EQ(asked(xml, "//testcase[@name='later']/skipped/@message"), "not done\n");
  EXPECT_EQ(asked(xml, "//testcase[@name='off']/failure/@type"), "inactive\n");
}

TEST(Junit, shows_text_as_it_is) {
  const std::string xml = junit_export(results_of_all_ends());
  EXPECT_EQ(asked(xml, "//testcase[failure/@type='crashed']/@name"), "a<\"b\">&\\x1b\n");
  EXPECT_EQ(asked(xml, "//testcase/failure[@type='crashed']"), "]]> <signal> é\\x01\n");
}

// XML allows neither U+FFFE nor U+FFFF, nor bytes that are no UTF-8.
TEST(Junit, is_well_formed_whatever_a_reason_holds) {
  Results results =
      results_of("s", {ended_case("odd", "failed", "\uffff\ufffe\u009b\u202e\n\x0c\xff]]>")}, {});
  results.journal = "r\xe9sultats/journal.jsonl";
  const std::string xml = junit_export({results});
  EXPECT_EQ(asked(xml, "//failure"), "\\u{ffff}\\u{fffe}\\u{9b}\\u{202e}\n\\x0c\\xff]]>\n");
  EXPECT_EQ(asked(xml, "//property/@value"), "r\\xe9sultats/journal.jsonl\n");
}

TEST(Junit, fails_a_case_that_is_worse_and_skips_one_that_cannot_be_told) {
  const std::string xml = comparison_of_all_trends();
  EXPECT_EQ(asked(xml, "count(//testcase)"), "3\n");
  EXPECT_EQ(asked(xml, "/testsuites/testsuite[@name='s']/@failures"), "1\n");
  EXPECT_EQ(asked(xml, "//testcase[failure[@type='worse']]/@name"), "a|<b>\\x1b[2J\n");
  EXPECT_NE(asked(xml, "//failure").find("+1.00 MiB"), std::string::npos) << xml;
  EXPECT_EQ(asked(xml, "//testcase[skipped]/@name"), "odd\n");
  EXPECT_EQ(asked(xml, "count(//testcase[@name='same']/*)"), "0\n");
}

}  // namespace
}  // namespace headroom
