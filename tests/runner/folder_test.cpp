// SPDX-License-Identifier: Apache-2.0
// What lies in a results folder: nothing that headroom did not make is touched, and what a case
// gave is not lost with the folder.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

const std::string kSuite = suite_of({"ok"}, "{silence_s: 20}");
const std::string kNotMade =
    ": headroom did not make it, and would write over it; choose another folder with --out\n";

/// A program that hangs is ended, so that the test fails and does not hang as well.
void end_in_time() { alarm(5); }

std::set<std::string> files_below(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files.insert(entry.path().lexically_relative(folder));
  }
  return files;
}

TEST(Folder, with_somebody_s_files_is_refused_and_left) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSuite);
  for (const std::string name :
       {"suite.yaml", "results.csv", "log/notes.txt", "snapshot/a.pickle"}) {
    const TemporaryFolder out;
    std::filesystem::create_directories(std::filesystem::path(out / name).parent_path());
    out.write(name, "mine");
    const std::set<std::string> before = files_below(out.path());
    const Ended ended = run_program({"run", suite, "--out", out.path()});
    EXPECT_EQ(ended.code, 2) << name;
    const std::string refused = out / name.substr(0, name.find('/'));
    EXPECT_EQ(ended.err, "headroom: " + refused + kNotMade);
    EXPECT_EQ(files_below(out.path()), before);
    EXPECT_EQ(read_text(out / name), "mine");
  }
}

TEST(Folder, that_the_suite_lies_in_is_refused) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSuite + "# my own words\n");
  const Ended ended = run_program({"run", "suite.yaml", "--out", "."},
                                  [&] { ASSERT_EQ(chdir(folder.path().c_str()), 0); });
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "headroom: ./suite.yaml" + kNotMade);
  EXPECT_EQ(read_text(suite), kSuite + "# my own words\n");
}

TEST(Folder, with_other_files_is_taken) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("mine.yaml", kSuite);
  std::filesystem::create_directory(folder / "log");  // as a kill at the very beginning leaves it
  EXPECT_EQ(run_program({"run", suite, "--out", folder.path()}).code, 0);
  EXPECT_EQ(read_rows(folder.path()).size(), 1U);
}

TEST(Folder, with_somebody_s_journal_is_refused_and_left) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("mine.yaml", kSuite);
  const std::string binary("PK\3\4\0\0x", 7);
  for (const std::string& text : {std::string("dear diary"), std::string("dear diary\n"),
                                  std::string("{\"a\": 1}"), std::string("cafe cafe cafe"),
                                  std::string("cafe"), std::string("cafecafe {"), binary}) {
    const std::string journal = folder.write("journal.jsonl", text);
    const Ended ended = run_program({"run", suite, "--out", folder.path()});
    EXPECT_EQ(ended.code, 3) << text;
    EXPECT_NE(ended.err.find("journal.jsonl:1:1: this record is damaged"), std::string::npos)
        << ended.err;
    EXPECT_EQ(read_text(journal), text);
  }
}

TEST(Folder, that_results_are_in_keeps_what_is_no_file) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("mine.yaml", kSuite);
  const std::string out = folder / "out";
  ASSERT_EQ(run_program({"run", suite, "--out", out}).code, 0);
  std::filesystem::remove(out + "/results.csv");
  ASSERT_EQ(mkfifo((out + "/results.csv").c_str(), 0600), 0);
  const Ended ended = run_program({"run", suite, "--out", out, "--resume"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "headroom: " + out + "/results.csv" + kNotMade);
  EXPECT_TRUE(std::filesystem::is_fifo(out + "/results.csv"));
}

TEST(Folder, with_a_pipe_for_a_log_does_not_hang) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("mine.yaml", kSuite);
  std::filesystem::create_directories(folder / "out/log");
  folder.write("out/journal.jsonl", "");
  ASSERT_EQ(mkfifo((folder / "out/log/ok.log").c_str(), 0600), 0);
  const Ended ended = run_program({"run", suite, "--out", folder / "out"}, end_in_time);
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find(folder / "out/log/ok.log"), std::string::npos) << ended.err;
}

TEST(Folder, is_freed_of_what_a_killed_run_left_and_of_nothing_else) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("mine.yaml", kSuite);
  const std::string out = folder / "out";
  ASSERT_EQ(run_program({"run", suite, "--out", out}).code, 0);
  std::set<std::string> expected = files_below(out);
  for (const char* litter : {".probe-4711", ".results.csv.new-aB3dE6", ".suite.yaml.new-012345"}) {
    folder.write(std::string("out/") + litter, "half");
  }
  for (const char* mine :
       {"results.csv.backup", ".probe-mine", "notes.new-backup", ".suite.yaml.new"}) {
    folder.write(std::string("out/") + mine, "mine");
    expected.insert(mine);
  }
  EXPECT_EQ(run_program({"run", suite, "--out", out, "--resume"}).code, 0);
  EXPECT_EQ(files_below(out), expected);
}

/// A run whose case is at work for a while, in which something happens to its folder.
class LostFolder : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string out = folder / "out";

  Ended run(const std::function<void()>& happens) {
    const std::string suite =
        folder.write("mine.yaml",
                     "suite: test\ndefaults: {data: {name: digits}, train: {work_ms: 500}}\n"
                     "cases: [{name: ok, model: {name: ok}}, {name: ok2, model: {name: ok}}]\n");
    Program program = start_program({"run", suite, "--out", out});
    while (read_text(out + "/log/ok.log").empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    happens();
    return program.wait();
  }

  /// What was measured stands on standard error, once.
  static void expect_handed_over(const Ended& ended) {
    EXPECT_EQ(ended.code, 4);
    const std::size_t start = ended.err.find("{\"case\"");
    ASSERT_NE(start, std::string::npos) << ended.err;
    EXPECT_EQ(ended.err.find("{\"case\"", start + 1), std::string::npos) << ended.err;
    const auto entry =
        nlohmann::ordered_json::parse(ended.err.substr(start, ended.err.find('\n', start) - start));
    EXPECT_EQ(entry.at("case"), "ok");
    EXPECT_EQ(entry.at("row").at("status"), "ok");
    EXPECT_EQ(entry.at("record").at("columns").at("parameters"), 1000);
  }
};

TEST_F(LostFolder, moved_hands_the_record_over) {
  const Ended ended = run([&] { std::filesystem::rename(out, folder / "moved"); });
  expect_handed_over(ended);
  EXPECT_NE(ended.err.find(out + "/journal.jsonl: it was moved or removed"), std::string::npos)
      << ended.err;
  EXPECT_NE(read_text(folder / "moved/journal.jsonl").find("\"case\":\"ok\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(LostFolder, removed_hands_the_record_over) {
  expect_handed_over(run([&] { std::filesystem::remove_all(out); }));
}

// Another run may have begun there.
TEST_F(LostFolder, replaced_is_left_alone) {
  expect_handed_over(run([&] {
    std::filesystem::rename(out, folder / "moved");
    std::filesystem::create_directory(out);
    folder.write("out/journal.jsonl", "another's");
    folder.write("out/results.csv", "another's");
  }));
  EXPECT_EQ(read_text(out + "/results.csv"), "another's");
  EXPECT_EQ(read_text(out + "/journal.jsonl"), "another's");
}

TEST_F(LostFolder, that_takes_no_csv_hands_the_record_over) {
  expect_handed_over(run([&] {
    std::filesystem::remove(out + "/results.csv");
    std::filesystem::create_directories(out + "/results.csv/in_its_place");
  }));
}

}  // namespace
}  // namespace headroom
