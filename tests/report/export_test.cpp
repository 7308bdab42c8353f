// SPDX-License-Identifier: Apache-2.0
#include "src/report/export.h"

#include <gtest/gtest.h>

#include "tests/results/results_of.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Two repeats, of which one case is of both and the others ended in all ways.
std::vector<Results> two_repeats() {
  return {
      results_of("s",
                 {ok_case("a", 1000, 2'000'000), ended_case("large", "out_of_memory", "x"),
                  ended_case("lost", "crashed", "a <b> & \"c\" | d")},
                 {"later"}),
      results_of("s", {ok_case("a", 1010, 4'000'000), ended_case("large", "out_of_memory", "x")},
                 {"lost", "later"})};
}

TEST(Export, to_github_action_has_medians_and_counts_what_has_no_figures) {
  const Json expected = Json::parse(R"([
    {"name": "s/cpu/a/run_peak_allocated_bytes", "unit": "bytes", "value": 1005,
     "range": "± 5", "extra": "median of 2 processes"},
    {"name": "s/cpu/a/pinned_peak_bytes", "unit": "bytes", "value": 0,
     "range": "± 0", "extra": "median of 2 processes"},
    {"name": "s/cpu/a/step_time_median_ns", "unit": "ns", "value": 3000000,
     "range": "± 1000000", "extra": "median of 2 processes"},
    {"name": "s/cpu/cases_not_ok", "unit": "cases", "value": 3,
     "extra": "large: out_of_memory: x\nlost: crashed: a <b> & \"c\" | d\nlater: not done"}])");
  EXPECT_EQ(Json::parse(github_action_export(two_repeats())), expected)
      << github_action_export(two_repeats());
}

TEST(Export, to_bencher_has_medians_and_extremes) {
  const Json expected = Json::parse(R"({
    "s/cpu": {"cases_not_ok": {"value": 3}},
    "s/cpu/a": {
      "run_peak_allocated_bytes": {"value": 1005, "lower_value": 1000, "upper_value": 1010},
      "pinned_peak_bytes": {"value": 0, "lower_value": 0, "upper_value": 0},
      "step_time_median_ns": {"value": 3000000, "lower_value": 2000000,
                              "upper_value": 4000000}}})");
  EXPECT_EQ(Json::parse(bencher_export(two_repeats())), expected) << bencher_export(two_repeats());
  const Json once = Json::parse(bencher_export({results_of("s", {ok_case("a", 7, 1)})}));
  EXPECT_EQ(once["s/cpu/a"]["run_peak_allocated_bytes"], Json({{"value", 7}}));
}

TEST(Export, to_markdown_is_a_table_a_suite_with_the_columns_it_has) {
  std::vector<Results> all = two_repeats();
  Results plan =
      results_of("p|q", {case_result("b", {{"status", "ok"}, {"run_peak_reserved_bytes", 2048}})});
  plan.header["kind"] = "planned";
  all.push_back(plan);
  EXPECT_EQ(
      markdown_export(all),
      "### s/cpu\n\n"
      "| case | run\\_peak\\_allocated | pinned\\_peak | step\\_time\\_median | repeats | end |\n"
      "| --- | --: | --: | --: | --: | --- |\n"
      "| a | 1005 bytes | 0 bytes | 3.00 ms | 2 | ok |\n"
      "| large |  |  |  | 2 | out\\_of\\_memory: x |\n"
      "| lost |  |  |  | 1 | crashed: a \\<b\\> \\& \"c\" \\| d |\n"
      "| later |  |  |  | 0 | not done |\n"
      "\n### p\\|q/planned\\_cpu\n\n"
      "| case | run\\_peak\\_reserved | repeats | end |\n"
      "| --- | --: | --: | --- |\n"
      "| b | 2.00 KiB | 1 | ok |\n");
}

TEST(Export, as_json_lines_has_steps_and_tensors_under_names) {
  Results results = results_of("s", {{.name = "a", .row = {{"suite", "s"}, {"case", "a"}}},
                                     {.name = "b", .row = {{"suite", "s"}, {"case", "b"}}}});
  results.cases[0].work = {{"train", {{"batch_size", 8}}}};
  results.cases[0].record = {
      {"status", "ok"},
      {"columns", {{"device_name", "x"}}},
      {"loss", {0.5, 0.25}},
      {"peak_tensors", {{2, 512, "weights", "build", nullptr, "aten::empty"}}},
      {"step_memory", {{"forward", 0, 900}, {"update", nullptr, 1000}}}};
  results.cases[1].rank_records = {{{"status", "ok"}, {"columns", {{"driver", 1}}}, {"loss", {1}}}};
  std::istringstream lines(jsonl_export({results}));
  std::vector<nlohmann::json> cases;
  for (std::string line; std::getline(lines, line);) cases.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].at("case"), "a");
  EXPECT_EQ(cases[0].at("work").at("train").at("batch_size"), 8);
  EXPECT_EQ(cases[0].at("loss"), (nlohmann::json{0.5, 0.25}));
  EXPECT_EQ(cases[0].at("peak_tensors").at(0), (nlohmann::json{{"count", 2},
                                                               {"bytes", 512},
                                                               {"category", "weights"},
                                                               {"phase", "build"},
                                                               {"block", nullptr},
                                                               {"operator", "aten::empty"}}));
  EXPECT_EQ(cases[0].at("step_memory").at(1),
            (nlohmann::json{{"phase", "update"}, {"block", nullptr}, {"bytes", 1000}}));
  EXPECT_FALSE(cases[0].contains("columns"));
  EXPECT_EQ(cases[1].at("rank_records").at(0).at("columns").at("driver"), 1);
}

TEST(Export, has_every_format_once) {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) {
    names.emplace_back(format.name);
    EXPECT_NE(format.write(two_repeats()), "");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"google_benchmark", "github_action", "bencher",
                                             "junit", "markdown", "jsonl"}));
}

}  // namespace
}  // namespace headroom
