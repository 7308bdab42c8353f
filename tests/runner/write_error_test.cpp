// SPDX-License-Identifier: Apache-2.0
// Results that can't be written are an error that says so, and nothing that was measured is lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "tests/runner/program.h"

namespace headroom {
namespace {

using namespace std::chrono_literals;

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
  EXPECT_NE(ended.err.find("headroom: " + disk + "/out"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("No space left on device"), std::string::npos) << ended.err;
  EXPECT_EQ(journal.back(), '\n');
}

/// A file system in memory, for as long as it lives.
class Disk {
 public:
  Disk(const std::string& path, const char* options) : path_(path) {
    std::filesystem::create_directory(path);
    is_there_ = mount("tmpfs", path.c_str(), "tmpfs", 0, options) == 0;
  }
  ~Disk() {
    if (is_there_) umount(path_.c_str());
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool is_there() const { return is_there_; }
  void make_read_only() const { mount("", path_.c_str(), "", MS_REMOUNT | MS_RDONLY, ""); }
  /// Leaves so many bytes free.
  void fill(std::uintmax_t free) const {
    const std::string filler = path_ + "/filler";
    std::ofstream(filler) << std::string(std::filesystem::space(path_).available - free, 'x');
  }

 private:
  std::string path_;
  bool is_there_;
};

TEST(WriteError, of_a_disk_that_fills_up_comes_before_the_next_case) {
  const TemporaryFolder folder;
  const Disk disk(folder / "disk", "size=1m");
  if (!disk.is_there()) GTEST_SKIP() << "no file system can be mounted here";
  const std::string suite =
      folder.write("suite.yaml",
                   "suite: test\ndefaults: {data: {name: digits}, train: {work_ms: 500}}\n"
                   "cases: [{name: a, model: {name: ok}}, {name: b, model: {name: ok}}]\n");
  const std::string out = folder / "disk/out";
  Program program = start_program({"run", suite, "--out", out});
  while (read_text(out + "/log/a.log").empty()) std::this_thread::sleep_for(2ms);
  disk.fill(48 * 1024);  // room for a row, and less than is looked for
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 4);
  EXPECT_TRUE(ended.err.ends_with("headroom: " + out + ": No space left on device\n")) << ended.err;
  EXPECT_EQ(read_rows(out).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(out + "/log/b.log"));
  std::filesystem::remove(folder / "disk/filler");
  EXPECT_EQ(run_program({"run", suite, "--out", out, "--resume"}).code, 0);
  EXPECT_EQ(read_rows(out).size(), 2U);
}

TEST(WriteError, of_a_folder_that_can_only_be_read_comes_before_any_worker) {
  const TemporaryFolder folder;
  const Disk disk(folder / "disk", "");
  if (!disk.is_there()) GTEST_SKIP() << "no file system can be mounted here";
  const std::string suite = folder.write("suite.yaml", kSmallSuite);
  const std::string out = folder / "disk/out";
  std::filesystem::create_directory(out);
  disk.make_read_only();
  const Ended ended = run_program({"run", suite, "--out", out});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.err, "headroom: " + out + "/journal.jsonl: Read-only file system\n");
  EXPECT_TRUE(std::filesystem::is_empty(out));
}

/// Runs with calls of the runner's that fail.
Ended run_failing(const std::string& faults, const std::string& suite, const std::string& out) {
  return run_program({"run", suite, "--out", out}, [&] {
    setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/failing_calls.so", 1);
    setenv("FAILING_CALLS", ("headroom_with_test_catalog - " + faults).c_str(), 1);
  });
}

TEST(WriteError, that_passes_is_tried_again) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "exit_3"}, "{}"));
  // The first one of each is the header's.
  for (const std::string fault : {"pwrite:2:EIO", "pwrite:2:EDQUOT", "fdatasync:2:EIO"}) {
    SCOPED_TRACE(fault);
    const Ended ended = run_failing(fault, suite, folder / fault);
    EXPECT_EQ(ended.code, 1) << ended.err;  // of the case that ends so
    EXPECT_EQ(read_rows(folder / fault).size(), 2U);
  }
}

TEST(WriteError, that_stays_hands_over_what_could_not_be_kept) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSmallSuite);
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"pwrite:2:ENOSPC:ever", "No space left on device"},
      {"pwrite:2:EIO:ever", "Input/output error"},
      {"pwrite:2:EDQUOT:ever", "Disk quota exceeded"},
      {"fdatasync:2:EIO:ever", "Input/output error"}};
  for (const auto& [fault, reason] : faults) {
    SCOPED_TRACE(fault);
    const std::string out = folder / fault;
    const Ended ended = run_failing(fault, suite, out);
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(ended.err.ends_with("headroom: " + out + "/journal.jsonl: " + reason + "\n"))
        << ended.err;
    EXPECT_EQ(object_in(ended.err).at("row").at("status"), "ok");
    EXPECT_EQ(run_program({"run", suite, "--out", out, "--resume"}).code, 0);
    EXPECT_EQ(read_rows(out).size(), 1U);
  }
}

/// A file of the user's, which a link in a results folder leads to.
class LinkInFolder : public testing::TestWithParam<std::string> {};

TEST_P(LinkInFolder, leads_nothing_into_what_it_names) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "exit_3"}, "{}"));
  const std::string mine = folder.write("mine", "mine");
  const std::string out = folder / "out";
  EXPECT_EQ(run_program({"run", suite, "--out", out, "--only", "ok"}).code, 0);
  std::filesystem::remove(out + "/" + GetParam());
  std::filesystem::create_symlink(mine, out + "/" + GetParam());
  const Ended ended = run_program({"run", suite, "--out", out, "--resume"});
  EXPECT_TRUE(ended.code == 2 || ended.code == 4) << ended.code;
  EXPECT_NE(ended.err.find(out + "/" + GetParam()), std::string::npos) << ended.err;
  EXPECT_EQ(read_text(mine), "mine");
}

INSTANTIATE_TEST_SUITE_P(Files, LinkInFolder,
                         testing::Values("journal.jsonl", "results.csv", "suite.yaml",
                                         "log/exit_3.log"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

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
