// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/runner/program.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

class Nightly : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string program = HEADROOM_BUILD_DIR "/headroom_with_test_catalog";
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));

  Ended night(const std::string& old_side, const std::string& new_side,
              const std::string& format = "table") {
    fs::remove_all(folder / "out");
    return run_program({"nightly", old_side, new_side, suite, "--history", folder / "nights.db",
                        "--out", folder / "out", "--format", format});
  }

  std::string script(const std::string& name, const std::string& text) {
    const std::string path = folder.write(name, "#!/bin/sh\n" + text);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
};

TEST_F(Nightly, measures_both_sides_in_turns_and_judges) {
  const Ended ended = night(program, program);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.ends_with("green\n")) << ended.out;
  for (const std::string side : {"old", "new"}) {
    for (const std::string turn : {"00", "01", "02", "03", "04"}) {
      EXPECT_EQ(read_rows(folder / ("out/" + side + "/" + turn + "/test")).size(), 1U);
    }
  }
}

TEST_F(Nightly, refuses_to_judge_sides_of_other_work) {
  const std::string other = script(
      "other", "exec " + program + " \"$@\" $([ \"$1\" = run ] && echo --set train.seed=7)\n");
  const Ended ended = night(program, other);
  EXPECT_EQ(ended.code, 3) << ended.out;
  EXPECT_NE(ended.err.find("not of the same machine and work"), std::string::npos) << ended.err;
}

TEST_F(Nightly, ends_where_a_side_ended_before_its_last_case) {
  folder.write("suite.yaml", suite_of({"ok", "unsupported"}, "{silence_s: 20}"));
  const std::string early = script("early", "[ \"$1\" = --version ] && exit 0\n" + program +
                                                " run \"$2\" --out \"$4\" --only '^ok$'\nexit 4\n");
  const Ended ended = night(program, early);
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("ended before the last case"), std::string::npos) << ended.err;
}

TEST_F(Nightly, goes_on_where_no_case_can_run_and_each_has_a_row) {
  folder.write("suite.yaml", suite_of({"unsupported"}, "{silence_s: 20}"));
  EXPECT_EQ(night(program, program).code, 0);
}

TEST_F(Nightly, tries_a_libtorch_that_is_loaded_first) {
  fs::create_directories(folder / "libtorch/lib");
  folder.write("libtorch/lib/libtorch_cpu.so", "");
  const Ended ended = night(program, folder / "libtorch", "json");
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  const std::string varied = json.at("comparison").at("varied").at(0);
  EXPECT_EQ(varied,
            "variables.LD_LIBRARY_PATH was missing and is \"" + (folder / "libtorch/lib") + "\"");
}

TEST_F(Nightly, refuses_what_is_no_side) {
  const Ended ended = night(program, folder / "nothing");
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("no side of a night; allowed is a headroom"), std::string::npos);
  const Ended broken = night(program, script("broken", "exit 3\n"));
  EXPECT_EQ(broken.code, 4);
  EXPECT_NE(broken.err.find("--version ends with 3"), std::string::npos) << broken.err;
}

}  // namespace
}  // namespace headroom
