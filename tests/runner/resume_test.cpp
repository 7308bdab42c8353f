// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "tests/runner/program.h"

namespace headroom {
namespace {

class Resume : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "segv"}, "{silence_s: 20}"));
  const std::string out = folder / "out";

  Ended run(std::vector<std::string> more) {
    more.insert(more.begin(), {"run", suite, "--out", out});
    return run_program(more);
  }
};

TEST_F(Resume, runs_what_has_no_row) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const std::string first = read_rows(out).at("ok").at("started_at");
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(read_rows(out).size(), 2U);
  EXPECT_EQ(read_rows(out).at("ok").at("started_at"), first);
  const std::string journal = read_text(out + "/journal.jsonl");
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(read_text(out + "/journal.jsonl"), journal);
}

TEST_F(Resume, is_asked_for_where_there_are_results) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const Ended again = run({});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--resume goes on with them"), std::string::npos) << again.err;
}

TEST_F(Resume, refuses_another_plan_and_says_what_differs) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const Ended other = run({"--resume", "--set", "train.seed=7"});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("of its case ok, train.seed was "), std::string::npos) << other.err;
  folder.write("suite.yaml", suite_of({"ok", "segv", "abort"}, "{silence_s: 20}"));
  EXPECT_NE(run({"--resume"}).err.find("it has no case abort"), std::string::npos);
}

TEST_F(Resume, refuses_a_damaged_journal_and_leaves_it) {
  run({});
  std::string journal = read_text(out + "/journal.jsonl");
  journal[journal.size() / 2] ^= 2;
  folder.write("out/journal.jsonl", journal);
  const Ended ended = run({"--resume"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("journal.jsonl:"), std::string::npos) << ended.err;
  EXPECT_EQ(read_text(out + "/journal.jsonl"), journal);
}

TEST_F(Resume, says_that_it_cut_a_torn_record) {
  run({});
  const std::string journal = read_text(out + "/journal.jsonl");
  folder.write("out/journal.jsonl", journal.substr(0, journal.size() - 5));
  const Ended ended = run({"--resume"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("a record torn by a kill"), std::string::npos) << ended.err;
  EXPECT_EQ(read_rows(out).size(), 2U);
}

TEST_F(Resume, of_a_folder_that_another_works_on_is_refused) {
  run({});
  const int journal = open((out + "/journal.jsonl").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(journal, LOCK_EX | LOCK_NB), 0);
  const Ended second = run({"--resume"});
  close(journal);
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find(out + "/journal.jsonl: another headroom is at work"), std::string::npos)
      << second.err;
}

TEST_F(Resume, takes_the_newest_folder_where_none_is_named) {
  const auto here = [this] { ASSERT_EQ(chdir(folder.path().c_str()), 0); };
  EXPECT_EQ(run_program({"run", suite, "--only", "^ok$"}, here).code, 0);
  EXPECT_EQ(run_program({"run", suite, "--resume"}, here).code, 1);
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out/test")) {
    ++folders;
    EXPECT_EQ(read_rows(entry.path()).size(), 2U);
  }
  EXPECT_EQ(folders, 1);
}

}  // namespace
}  // namespace headroom
