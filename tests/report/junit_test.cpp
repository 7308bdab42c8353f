// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/report/export.h"
#include "tests/report/results_of.h"
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

/// What xmllint answers of the export.
std::string asked(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  std::vector<std::string> call = {"xmllint", "--nonet"};
  call.insert(call.end(), arguments.begin(), arguments.end());
  call.push_back(folder.write("junit.xml", junit_export(results_of_all_ends())));
  const Ended ended = Program("/usr/bin/env", call).wait();
  EXPECT_EQ(ended.code, 0) << ended.err << junit_export(results_of_all_ends());
  return ended.out;
}

std::string asked(const std::string& xpath) { return asked({"--xpath", "string(" + xpath + ")"}); }

TEST(JunitExport, fits_the_schema) {
  asked({"--noout", "--schema", HEADROOM_SOURCE_DIR "/tests/report/junit.xsd"});
}

TEST(JunitExport, fails_what_failed_and_skips_what_could_not_run) {
  EXPECT_EQ(asked("count(//testcase)"), "6\n");
  EXPECT_EQ(asked("/testsuites/@tests"), "6\n");
  EXPECT_EQ(asked("/testsuites/@failures"), "2\n");
  EXPECT_EQ(asked("/testsuites/@skipped"), "2\n");
  EXPECT_EQ(asked("//testsuite[@name='s']/@failures"), "1\n");
  EXPECT_EQ(asked("count(//testcase[@name='fine']/*)"), "0\n");
  EXPECT_EQ(asked("//testcase[@name='large']/system-out"), "out_of_memory: 8 GiB\n");
  EXPECT_EQ(asked("//testcase[@name='gpu']/skipped/@message"), "unsupported: no GPU\n");
  EXPECT_EQ(asked("//testcase[@name='later']/skipped/@message"), "not done\n");
  EXPECT_EQ(asked("//testcase[@name='off']/failure/@type"), "inactive\n");
}

TEST(JunitExport, shows_text_as_it_is) {
  EXPECT_EQ(asked("//testcase[failure/@type='crashed']/@name"), "a<\"b\">&\\x1b\n");
  EXPECT_EQ(asked("//testcase/failure[@type='crashed']"), "]]> <signal> é\\x01\n");
}

}  // namespace
}  // namespace headroom
