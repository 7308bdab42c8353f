// SPDX-License-Identifier: Apache-2.0
// Calls of the system that fail (tests/campaign/failing_calls.h): the run says which, or goes on.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/runner/program.h"

namespace headroom {
namespace {

/// A run of one case in which `faults` happen, and then one in which none does.
class FailingCalls : public testing::Test {
 protected:
  Ended run(const std::string& faults) { return run(faults, {"run", suite_, "--out", out_}); }
  Ended resume() { return run("", {"run", suite_, "--out", out_, "--resume"}); }
  Rows rows() const {
    return std::filesystem::exists(out_ + "/results.csv") ? lasting_rows(out_) : Rows();
  }

  const TemporaryFolder folder_;
  const std::string out_ = folder_ / "out";

 private:
  static Ended run(const std::string& faults, const std::vector<std::string>& arguments) {
    return run_program(arguments, [&] {
      const std::string words = "headroom_with_test_catalog - " + faults;
      setenv("FAILING_CALLS", words.c_str(), 1);
      setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/failing_calls.so", 1);
      setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);  // its library is not the first then
    });
  }

  const std::string suite_ = folder_.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
};

TEST_F(FailingCalls, between_fork_and_exec_are_no_end_of_a_worker) {
  const Ended ended = run("dup2:1:EBUSY");
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.err, "headroom: " HEADROOM_BUILD_DIR "/test_worker: Device or resource busy\n");
  EXPECT_TRUE(rows().empty());

  EXPECT_EQ(resume().code, 0);
  EXPECT_EQ(rows().at("ok").at("status"), "ok");
}

TEST_F(FailingCalls, that_a_signal_interrupted_are_made_again) {
  for (const std::string call : {"open", "read", "pread", "write", "pwrite", "fsync", "fdatasync",
                                 "flock", "poll", "waitid", "waitpid", "close"}) {
    for (int number = 1; number <= 8; ++number) {
      const std::string fault = call + ":" + std::to_string(number) + ":EINTR";
      const Ended ended = run(fault);
      ASSERT_EQ(ended.code, 0) << fault << ": " << ended.err;
      ASSERT_EQ(rows().at("ok").at("status"), "ok") << fault;
      std::filesystem::remove_all(out_);
    }
  }
}

TEST_F(FailingCalls, that_come_out_short_are_gone_on_with) {
  for (const std::string call : {"read", "pread", "pwrite"}) {
    for (int number = 1; number <= 8; ++number) {
      const std::string fault = call + ":" + std::to_string(number) + ":short:ever";
      const Ended ended = run(fault);
      ASSERT_EQ(ended.code, 0) << fault << ": " << ended.err;
      const Ended resumed = resume();
      ASSERT_EQ(resumed.code, 0) << fault << ": " << resumed.err;
      std::filesystem::remove_all(out_);
    }
  }
}

TEST_F(FailingCalls, of_the_disk_are_named_as_what_they_are) {
  const std::string journal = out_ + "/journal.jsonl";
  const std::map<std::string, std::string> reasons = {
      {"fdatasync:2:EIO:ever", journal + ": Input/output error"},
      {"pwrite:2:EDQUOT:ever", journal + ": Disk quota exceeded"},
      {"flock:1:ENOLCK", journal + ": No locks available"},
      {"open:1:EIO", "/suite.yaml: can't open: Input/output error"},
      {"fsync:1:EROFS", ": can't flush to the disk: Read-only file system"},
      {"read:1:EIO", "/suite.yaml: can't read: Input/output error"}};
  for (const auto& [fault, reason] : reasons) {
    const Ended ended = run(fault);
    EXPECT_EQ(ended.code, 4) << fault;
    EXPECT_TRUE(ended.err.ends_with(reason + "\n")) << fault << ": " << ended.err;
    EXPECT_EQ(resume().code, 0);
    EXPECT_EQ(rows().at("ok").at("status"), "ok");
    std::filesystem::remove_all(out_);
  }
}

TEST_F(FailingCalls, are_made_a_second_time_where_the_disk_is_full_for_a_moment) {
  for (const std::string fault : {"pwrite:2:ENOSPC", "fdatasync:2:EIO", "rename:2:ENOSPC"}) {
    const Ended ended = run(fault);
    EXPECT_EQ(ended.code, 0) << fault << ": " << ended.err;
    EXPECT_EQ(rows().at("ok").at("status"), "ok") << fault;
    std::filesystem::remove_all(out_);
  }
}

TEST_F(FailingCalls, to_look_at_the_journal_are_no_loss_of_it) {
  for (int number = 1; number < 40; ++number) {
    const Ended ended = run("fstat:" + std::to_string(number) + ":EIO:ever");
    EXPECT_EQ(ended.err.find("moved or removed"), std::string::npos) << ended.err;
    std::filesystem::remove_all(out_);
  }
}

TEST_F(FailingCalls, leave_no_other_processor_in_a_row) {
  run("");
  const std::string cpu = rows().at("ok").at("cpu");
  for (const std::string call : {"open", "fopen64"}) {
    for (int number = 1; number <= 12; ++number) {
      std::filesystem::remove_all(out_);
      run(call + ":" + std::to_string(number) + ":ENOMEM");
      const Rows found = rows();
      if (!found.contains("ok")) continue;  // it said what failed
      EXPECT_EQ(found.at("ok").at("cpu"), cpu) << call << number;
    }
  }
}

}  // namespace
}  // namespace headroom
