// SPDX-License-Identifier: Apache-2.0
// Machines that sleep, clocks that jump, and file systems whose locks may not hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "tests/runner/program.h"

namespace headroom {
namespace {

/// Runs `ok` and a crash where the system is as the variable says; gives what it says.
Ended run_strange(const std::string& suite, const std::string& out, const std::string& variable,
                  const std::string& value) {
  return run_program({"run", suite, "--out", out}, [&] {
    setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/strange_system.so", 1);
    setenv(variable.c_str(), value.c_str(), 1);
  });
}

class StrangeSystem : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "exit_3"}, "{}"));
  const std::string out = folder / "out";
};

TEST_F(StrangeSystem, that_sleeps_leaves_a_mark_in_the_row) {
  run_strange(suite, out, "STRANGE_SLEEP_S", "90");
  Rows rows = read_rows(out);
  EXPECT_EQ(rows["ok"]["status"], "ok");
  EXPECT_EQ(rows["ok"]["reason"], "the machine slept for 90 s meanwhile");
  EXPECT_EQ(rows["exit_3"]["status"], "crashed");
  EXPECT_TRUE(
      rows["exit_3"]["reason"].ends_with("with no record; the machine slept for 90 s meanwhile"))
      << rows["exit_3"]["reason"];
}

TEST_F(StrangeSystem, that_does_not_sleep_leaves_none) {
  run_strange(suite, out, "STRANGE_SLEEP_S", "0");
  EXPECT_EQ(read_rows(out)["ok"]["reason"], "");
}

TEST_F(StrangeSystem, whose_clock_jumps_changes_no_result) {
  run_strange(suite, folder / "steady", "STRANGE_DATE_S", "0");
  const Rows steady = lasting_rows(folder / "steady");
  for (const std::string jump : {"100000", "-100000"}) {
    SCOPED_TRACE(jump);
    const Ended ended = run_strange(suite, folder / jump, "STRANGE_DATE_S", jump);
    EXPECT_EQ(ended.code, 1) << ended.err;  // of the case that ends so
    EXPECT_EQ(lasting_rows(folder / jump), steady);
    EXPECT_NE(read_rows(folder / jump)["ok"]["started_at"].substr(0, 10),
              read_rows(folder / "steady")["ok"]["started_at"].substr(0, 10));
  }
}

// The folder of the first run has the later name, and its journal the later time.
TEST_F(StrangeSystem, whose_clock_was_set_back_goes_on_with_the_last_run) {
  const auto run = [&](const std::vector<std::string>& more, const std::string& date) {
    std::vector<std::string> call = {"run", suite};
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call, [&] {
      ASSERT_EQ(chdir(folder.path().c_str()), 0);
      setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/strange_system.so", 1);
      setenv("STRANGE_DATE_S", date.c_str(), 1);
    });
  };
  EXPECT_EQ(run({"--only", "^ok$"}, "100000").code, 0);
  EXPECT_EQ(run({"--only", "^ok$"}, "0").code, 0);
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out/test")) {
    if (entry.is_directory()) folders.insert(entry.path());
  }
  ASSERT_EQ(folders.size(), 2U);
  const std::filesystem::path first = *folders.rbegin();
  const std::filesystem::path last = *folders.begin();
  std::filesystem::last_write_time(
      last / "journal.jsonl",
      std::filesystem::last_write_time(first / "journal.jsonl") - std::chrono::hours(1));

  const Ended resumed = run({"--resume"}, "0");
  EXPECT_EQ(resumed.code, 1) << resumed.err;  // of the case that ends so
  EXPECT_TRUE(resumed.err.starts_with("headroom: --resume: going on in out/test/" +
                                      last.filename().string() + "\n"))
      << resumed.err;
  EXPECT_EQ(read_rows(last).size(), 2U);
  EXPECT_EQ(read_rows(first).size(), 1U);

  const std::string both = folder / "out/test";  // what remembers the last run is no result
  EXPECT_EQ(run_program({"compare", both, both}).code, 0);
  EXPECT_EQ(run_program({"verify", both}).out.find(".last"), std::string::npos);
}

TEST_F(StrangeSystem, of_files_whose_locks_may_not_hold_is_named) {
  const std::string warning = "whose locks may hold for one machine only";
  for (const auto& [type, name] : std::map<std::string, std::string>{{"0x6969", "NFS"},
                                                                     {"0xFF534D42", "CIFS"},
                                                                     {"0x65735546", "FUSE"},
                                                                     {"0x0BD00BD0", "Lustre"},
                                                                     {"0x01021997", "9P"}}) {
    const Ended ended = run_strange(suite, folder / name, "STRANGE_FILE_SYSTEM", type);
    EXPECT_NE(ended.err.find(folder / name + " is on " + name + ", " + warning), std::string::npos)
        << ended.err;
    EXPECT_EQ(read_rows(folder / name).size(), 2U);
  }
  const Ended ended = run_strange(suite, out, "STRANGE_FILE_SYSTEM", "0xEF53");  // ext4
  EXPECT_EQ(ended.err.find(warning), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace headroom
