// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
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

TEST(DryReports, count_those_that_are_empty_or_torn) {
  const TemporaryFolder folder;
  folder.write("1.json", "");
  folder.write("2.json", R"({"gpu": "h2)");
  folder.write("3.json", kDryReport);
  const DryReports reports = read_reports(folder.path());
  ASSERT_EQ(reports.whole.size(), 1u);
  EXPECT_EQ(reports.whole[0].at("gpu"), "h200");
  EXPECT_EQ(reports.missing, 2u);
}

TEST(DryReports, count_what_can_not_be_read) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "1.json");
  ASSERT_EQ(mkfifo((folder / "2.json").c_str(), 0600), 0);
  folder.write("3.json", std::string(2 << 20, ' ') + kDryReport);
  folder.write("4.json", kDryReport);
  const DryReports reports = read_reports(folder.path());
  EXPECT_EQ(reports.whole.size(), 1u);
  EXPECT_EQ(reports.missing, 3u);
}

// A program that runs dry knows the folder, and may write anything there.
TEST(DryReports, of_any_other_form_are_missing) {
  const auto is_whole = [](const nlohmann::ordered_json& report) {
    const TemporaryFolder folder;
    folder.write("1.json", report.dump());
    const DryReports reports = read_reports(folder.path());
    EXPECT_EQ(reports.whole.size() + reports.missing, 1u);
    return !reports.whole.empty();
  };
  const auto report = nlohmann::ordered_json::parse(kDryReport);
  EXPECT_TRUE(is_whole(report));
  for (const char* other : {"7", "[]", "{}", "null"}) {
    EXPECT_FALSE(is_whole(nlohmann::ordered_json::parse(other))) << other;
  }
  for (const auto& [name, value] : report.items()) {
    auto spoilt = report;
    spoilt.erase(name);
    EXPECT_FALSE(is_whole(spoilt)) << "no " << name;
    spoilt[name] = value.is_string() ? nlohmann::ordered_json(1) : "text";
    EXPECT_FALSE(is_whole(spoilt)) << name;
  }
  auto counted = report;
  counted["peak_allocated_bytes"] = 5;
  EXPECT_TRUE(is_whole(counted));
  counted["peak_allocated_bytes"] = -5;
  EXPECT_FALSE(is_whole(counted));
  auto too_small = report;
  too_small["free_when_refused_bytes"] = -1;
  EXPECT_TRUE(is_whole(too_small));
  too_small["free_when_refused_bytes"] = -2;
  EXPECT_FALSE(is_whole(too_small));
}

}  // namespace
}  // namespace headroom
