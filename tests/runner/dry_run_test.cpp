// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <sstream>

#include "src/core/error.h"
#include "tests/core/messages.h"
#include "tests/runner/dry_report.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// A folder of libraries of that name.
std::string make_libraries(const TemporaryFolder& folder, const std::string& name) {
  std::filesystem::create_directory(folder / name);
  folder.write(name + "/libcuda.so.1", "");
  folder.write(name + "/libnvidia-ml.so.1", "");
  return folder / name;
}

/// What ld.so would load, in a "LD_PRELOAD" that it splits at spaces and colons.
std::vector<std::string> preloaded(const Environment& environment) {
  std::string value;
  for (const auto& [name, text] : environment) value += name == "LD_PRELOAD" ? text : "";
  std::replace(value.begin(), value.end(), ':', ' ');
  std::istringstream words(value);
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(DryRunEnvironment, preloads_libraries_of_a_folder_of_any_name) {
  for (const char* name : {"plain", "with space", "with:colon", "$LIB"}) {
    const TemporaryFolder folder;
    const TemporaryFolder scratch;
    const DryRun dry_run{.libraries = make_libraries(folder, name), .gpu = "h200"};
    const auto files = preloaded(dry_run_environment(dry_run, scratch.path()));
    ASSERT_GE(files.size(), 2u);
    for (const std::string& file : {files[0], files[1]}) {
      EXPECT_TRUE(std::filesystem::exists(file)) << file;
      EXPECT_EQ(file.find('$'), std::string::npos) << file;
    }
    EXPECT_TRUE(read_reports(scratch.path()).whole.empty());
  }
}

TEST(DryRunEnvironment, refuses_where_no_name_can_be_preloaded) {
  const TemporaryFolder folder;
  const DryRun dry_run{.libraries = make_libraries(folder, "a b"), .gpu = "h200"};
  EXPECT_TRUE(contains(
      message_of<ConfigError>([&] { dry_run_environment(dry_run, folder.path() / "c d"); }),
      "set TMPDIR to a folder without a space"));
}

TEST(DryReports, tell_of_each_process_what_it_kept) {
  const TemporaryFolder folder;
  folder.write("2.0.report", dry_report([](DryReport& report) {
                 report.process = 2;
                 report.has_ended = 0;
                 std::strcpy(report.libtorch, "2.11.0");
                 report.knows_allocator = 1;
                 report.peak_allocated_bytes = 7;
                 report.knows_latest_peaks = 1;
                 report.latest_peak_allocated_bytes = 6;
               }));
  folder.write("1.0.report", dry_report([](DryReport& report) {
                 report.process = 1;
                 report.knows_allocator = 1;
               }));
  folder.write("0.0.report", dry_report());
  folder.write("1.json", "of somebody else");
  const DryReports reports = read_reports(folder.path());
  EXPECT_EQ(reports.damaged, 0u);
  ASSERT_EQ(reports.whole.size(), 3u);
  EXPECT_FALSE(reports.whole[0].contains("rank"));
  EXPECT_EQ(reports.whole[0].at("gpu"), "h200");
  EXPECT_EQ(reports.whole[0].at("has_ended"), 1);
  EXPECT_EQ(reports.whole[0].at("launches"), 3);
  EXPECT_FALSE(reports.whole[0].contains("peak_allocated_bytes"));
  EXPECT_EQ(reports.whole[1].at("peak_allocated_bytes"), 0);
  EXPECT_FALSE(reports.whole[1].contains("latest_peak_allocated_bytes"));
  EXPECT_EQ(reports.whole[2].at("has_ended"), 0);
  EXPECT_EQ(reports.whole[2].at("libtorch"), "2.11.0");
  EXPECT_EQ(reports.whole[2].at("peak_allocated_bytes"), 7);
  EXPECT_EQ(reports.whole[2].at("latest_peak_allocated_bytes"), 6);
}

TEST(DryReports, come_in_the_order_of_ranks_processes_and_devices) {
  const TemporaryFolder folder;
  int files = 0;
  const auto write = [&](int process, int device, int rank, int ranks) {
    folder.write(std::to_string(++files) + ".report", dry_report([&](DryReport& report) {
                   report.process = process;
                   report.device = device;
                   report.rank = rank;
                   report.ranks = ranks;
                 }));
  };
  write(100, 0, 1, 2);
  write(99, 1, 0, 2);
  write(1000, 0, 0, 0);
  write(99, 0, 0, 2);
  write(101, 0, 10, 12);
  std::vector<std::pair<int, int>> order;
  for (const auto& report : read_reports(folder.path()).whole) {
    order.emplace_back(report.at("process"), report.at("device"));
  }
  EXPECT_EQ(order,
            (std::vector<std::pair<int, int>>{{1000, 0}, {99, 0}, {99, 1}, {100, 0}, {101, 0}}));
}

TEST(DryReports, are_damaged_where_they_are_no_files_of_their_length) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "1.report");
  ASSERT_EQ(mkfifo((folder / "2.report").c_str(), 0600), 0);
  folder.write("3.report", "");
  folder.write("4.report", dry_report().substr(1));
  folder.write("5.report", dry_report() + " ");
  folder.write("6.report", dry_report());
  const DryReports reports = read_reports(folder.path());
  EXPECT_EQ(reports.whole.size(), 1u);
  EXPECT_EQ(reports.damaged, 5u);
}

// A program that runs dry knows the folder, and may write anything there.
TEST(DryReports, are_damaged_where_they_say_what_can_not_be) {
  const auto is_whole = [](const std::function<void(DryReport&)>& change) {
    const TemporaryFolder folder;
    folder.write("1.report", dry_report(change));
    const DryReports reports = read_reports(folder.path());
    EXPECT_EQ(reports.whole.size() + reports.damaged, 1u);
    return !reports.whole.empty();
  };
  const auto fill = [](auto& text, char c) { std::memset(text, c, sizeof(text)); };
  EXPECT_FALSE(is_whole([](DryReport& report) { report.form = 0; }));
  EXPECT_FALSE(is_whole([&](DryReport& report) { fill(report.gpu, 'x'); }));
  EXPECT_FALSE(is_whole([&](DryReport& report) { fill(report.libtorch, 'x'); }));
  EXPECT_FALSE(is_whole([&](DryReport& report) { fill(report.not_modelled, 'x'); }));
  EXPECT_FALSE(is_whole([](DryReport& report) { report.gpu[0] = '\x1b'; }));
  EXPECT_TRUE(is_whole([](DryReport& report) { report.free_when_refused_bytes = -1; }));
  EXPECT_FALSE(is_whole([](DryReport& report) { report.free_when_refused_bytes = -2; }));
  for (const CountOfReport& count : kCountsOfReport) {
    EXPECT_FALSE(is_whole([&](DryReport& report) {
      report.knows_allocator = 1;
      report.knows_latest_peaks = 1;
      report.ranks = 1;
      report.stages = 1;
      report.timed_steps = 1;
      report.*count.value = -2;
    })) << count.name;
  }
}

}  // namespace
}  // namespace headroom
