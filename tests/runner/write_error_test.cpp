// SPDX-License-Identifier: Apache-2.0
// Results that can't be written are an error that says so, and nothing that was measured is lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/runner/program.h"

namespace headroom {
namespace {

const std::string kSmallSuite = suite_of({"ok"}, "{silence_s: 20}");

/// A suite whose journal grows to 100 KB and more.
std::string long_suite() {
  std::string text = kSmallSuite + "matrix: {train.seed: [0";
  for (int seed = 1; seed < 120; ++seed) text += ", " + std::to_string(seed);
  return text + "]}\n";
}

/// The JSON object that stands on a line of its own.
nlohmann::ordered_json object_in(const std::string& text) {
  const std::size_t start = text.find("\n{\"case\"") + 1;
  return nlohmann::ordered_json::parse(text.substr(start, text.find('\n', start) - start));
}

TEST(WriteError, hands_over_what_could_not_be_kept) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", long_suite());
  const std::string out = folder / "out";
  const Ended ended = run_program({"run", suite, "--out", out}, [] {
    const rlimit files{70'000, 70'000};
    setrlimit(RLIMIT_FSIZE, &files);
  });
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_TRUE(ended.err.ends_with("headroom: " + out + "/journal.jsonl: File too large\n"))
      << ended.err;
  const Rows kept = read_rows(out);
  const nlohmann::ordered_json lost = object_in(ended.err);
  EXPECT_EQ(kept.count(lost.at("case")), 0U);
  EXPECT_EQ(lost.at("row").at("status"), "ok");

  EXPECT_EQ(run_program({"run", suite, "--out", out, "--resume"}).code, 0);
  const Rows rows = read_rows(out);
  EXPECT_EQ(rows.size(), 120U);
  for (const auto& [name, row] : kept) EXPECT_EQ(rows.at(name), row);
}

TEST(WriteError, of_a_full_disk_keeps_the_journal_whole) {
  const TemporaryFolder folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=192k") != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  const std::string suite = folder.write("suite.yaml", long_suite());
  const Ended ended = run_program({"run", suite, "--out", disk + "/out"});
  const std::string journal = read_text(disk + "/out/journal.jsonl");
  umount(disk.c_str());

  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_NE(ended.err.find("headroom: " + disk + "/out/"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("No space left on device"), std::string::npos) << ended.err;
  EXPECT_EQ(journal.back(), '\n');
}

TEST(WriteError, of_the_folder_comes_before_any_worker) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSmallSuite);
  const std::string file = folder.write("file", "");
  const Ended ended = run_program({"run", suite, "--out", file});
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find(file), std::string::npos) << ended.err;
  EXPECT_EQ(run_program({"run", suite, "--out", "/proc/nowhere"}).code, 4);
}

TEST(WriteError, of_standard_output_is_seen) {
  const Ended ended =
      run_program({"list", "columns"}, [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("standard output"), std::string::npos) << ended.err;
}

TEST(WriteError, of_standard_output_ends_no_run_of_several_suites) {
  const TemporaryFolder folder;
  const std::string cases = "\ncases: [{name: a, model: {name: ok}, data: {name: digits}}]\n";
  const std::string one = folder.write("one.yaml", "suite: one" + cases);
  const std::string two = folder.write("two.yaml", "suite: two" + cases);
  const Ended ended = run_program({"run", one, two, "--out", folder / "out"},
                                  [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
  EXPECT_EQ(ended.code, 4);
  EXPECT_TRUE(
      ended.err.ends_with("headroom: standard output: can't write: No space left on device\n"))
      << ended.err;
  EXPECT_EQ(read_rows(folder / "out/one").size(), 1U);
  EXPECT_EQ(read_rows(folder / "out/two").size(), 1U);
}

}  // namespace
}  // namespace headroom
