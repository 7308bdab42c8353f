// SPDX-License-Identifier: Apache-2.0
// `headroom completion` and `headroom manual`, as bash and groff read them.
#include <gtest/gtest.h>

#include "tests/runner/program.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

class Completion : public testing::Test {
 protected:
  Completion() {
    const Ended script = run_program({"completion"});
    EXPECT_EQ(script.code, 0) << script.err;
    file_ = folder_.write("completion", script.out);
  }

  /// What bash offers for the last of these words.
  std::string offered(const std::string& words) const {
    const std::string command = "source " + file_ + "; COMP_WORDS=(headroom " + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headroom; "
                                "echo \"${COMPREPLY[*]}\"";
    const Ended ended = Program("/bin/bash", {"-c", command}).wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    return ended.out;
  }

 private:
  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(Completion, offers_commands_and_their_options) {
  EXPECT_EQ(offered("pl"), "plan\n");
  EXPECT_EQ(offered("--ver"), "--version\n");
  EXPECT_EQ(offered("plan --gp"), "--gpu --gpu-memory\n");
  EXPECT_EQ(offered("run --gp"), "\n");
  EXPECT_EQ(offered("plan --gpu b2"), "b200\n");
}

TEST_F(Completion, offers_files_where_no_option_begins) {
  EXPECT_EQ(offered("plan /et"), "/etc\n");
  EXPECT_EQ(offered("plan --gpu /et"), "/etc\n");
}

TEST(Manual, is_a_page_that_groff_takes_without_a_warning) {
  const Ended page = run_program({"manual"});
  ASSERT_EQ(page.code, 0) << page.err;
  for (const char* part : {".SH HEADROOM \\&plan", "\\-\\-gpu\\-memory", ".SH EXIT STATUS"}) {
    EXPECT_NE(page.out.find(part), std::string::npos) << part;
  }
  const TemporaryFolder folder;
  const std::string file = folder.write("headroom.1", page.out);
  const Ended shown = Program("/bin/sh", {"-c",
                                          "command -v groff >/dev/null || exit 77; "
                                          "groff -man -Tascii -ww " +
                                              file})
                          .wait();
  if (shown.code == 77) GTEST_SKIP() << "no groff here";
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.err, "");
  EXPECT_NE(shown.out.find("Measures what techniques"), std::string::npos) << shown.out;
}

}  // namespace
}  // namespace headroom
