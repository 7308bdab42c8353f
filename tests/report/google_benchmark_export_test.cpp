// SPDX-License-Identifier: Apache-2.0
// What is exported for Google Benchmark, read by its own tool.
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/report/export.h"
#include "tests/results/results_of.h"
#include "tests/support/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTool = "/usr/share/benchmark/compare.py";

std::string source(const std::string& name) { return HEADROOM_SOURCE_DIR "/" + name; }

/// What compare.py finds between two exports, as its own JSON, by name.
std::map<std::string, Json> compared(const std::vector<Results>& old_ones,
                                     const std::vector<Results>& new_ones) {
  const TemporaryFolder folder;
  const std::string before = folder.write("before.json", google_benchmark_export(old_ones));
  const std::string after = folder.write("after.json", google_benchmark_export(new_ones));
  const std::string report = folder / "report.json";
  const Ended ended = Program("/usr/bin/env", {"PYTHONPATH=" + source(".deps/programs"),
                                               source(".deps/python/bin/python3"), kTool, "-d",
                                               report, "benchmarks", before, after})
                          .wait();
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  std::map<std::string, Json> found;
  for (const Json& one : Json::parse(read_text(report))) found[one["name"]] = one;
  return found;
}

std::vector<Results> repeats(const std::vector<std::int64_t>& step_times, std::int64_t bytes) {
  std::vector<Results> all;
  for (const std::int64_t time : step_times)
    all.push_back(results_of("s", {ok_case("a", bytes, time)}));
  return all;
}

TEST(GoogleBenchmarkExport, is_what_its_own_tool_compares) {
  if (access(source(".deps/programs/scipy").c_str(), R_OK) != 0 || access(kTool, R_OK) != 0) {
    GTEST_SKIP() << "ci/bootstrap tests did not install compare.py and what it needs";
  }
  const auto found =
      compared(repeats({100, 101, 102, 103}, 1000), repeats({200, 202, 204, 206}, 1500));
  ASSERT_EQ(found.size(), 3U);  // the third is the mean of all
  const Json& time = found.at("s/cpu/a");
  ASSERT_EQ(time["measurements"].size(), 4U);
  EXPECT_EQ(time["measurements"][3]["real_time_other"], 206);
  EXPECT_DOUBLE_EQ(time["measurements"][0]["time"].get<double>(), 1.0);
  EXPECT_EQ(time["utest"]["nr_of_repetitions"], 4);
  EXPECT_NEAR(time["utest"]["time_pvalue"].get<double>(), 2.0 / 70, 1e-9);  // exact, two-sided
  const Json& bytes = found.at("s/cpu/a/run_peak_allocated_bytes");
  EXPECT_DOUBLE_EQ(bytes["measurements"][0]["time"].get<double>(), 0.5);
}

TEST(GoogleBenchmarkExport, leaves_the_tool_to_compare_what_did_not_fail) {
  if (access(source(".deps/programs/scipy").c_str(), R_OK) != 0 || access(kTool, R_OK) != 0) {
    GTEST_SKIP() << "ci/bootstrap tests did not install compare.py and what it needs";
  }
  const auto found =
      compared({results_of("s", {ok_case("a", 10, 1), ok_case("b", 20, 1)})},
               {results_of("s", {ok_case("a", 10, 1), ended_case("b", "crashed", "x")})});
  EXPECT_TRUE(found.contains("s/cpu/a"));
  EXPECT_FALSE(found.contains("s/cpu/b"));
}

TEST(GoogleBenchmarkExport, has_an_entry_for_each_repeat_and_what_failed) {
  const Json exported = Json::parse(google_benchmark_export(
      {results_of("s", {ok_case("a", 1000, 100), ended_case("b", "crashed", "signal 11")})}));
  const Json& entries = exported["benchmarks"];
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0], Json::parse(R"({"name": "s/cpu/a", "run_name": "s/cpu/a",
    "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1,
    "iterations": 5, "real_time": 100, "cpu_time": 100, "time_unit": "ns",
    "run_peak_allocated_bytes": 1000})"));
  EXPECT_EQ(entries[1]["name"], "s/cpu/a/run_peak_allocated_bytes");
  EXPECT_EQ(entries[1]["real_time"], 1000);
  EXPECT_EQ(entries[2]["name"], "s/cpu/b_not_ok");
  EXPECT_EQ(entries[2]["error_message"], "crashed: signal 11");
  EXPECT_FALSE(entries[2].contains("real_time"));
}

}  // namespace
}  // namespace headroom
