// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/runner/program.h"

namespace headroom {
namespace {

TEST(Report, of_a_run_is_one_file) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"ok", "out_of_memory"}, "{silence_s: 20}"));
  const std::string out = folder / "out";
  run_program({"run", suite, "--out", out});
  const std::string page = folder / "page.html";
  const Ended ended = run_program({"report", out, "--out", page});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, page + "\n");
  const std::string html = read_text(page);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  for (const std::string part : {"<b>2</b> cases", "<b>1</b> ok", "<b>out_of_memory</b>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST(Report, of_no_results_says_so_and_writes_nothing) {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  for (const std::string& results : {folder / "none", folder.path().string()}) {
    const Ended ended = run_program({"report", results, "--out", page});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find(results), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(page));
  }
}

}  // namespace
}  // namespace headroom
