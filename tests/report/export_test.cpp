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

TEST(Export, has_every_format_once) {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) {
    names.emplace_back(format.name);
    EXPECT_NE(format.write(two_repeats()), "");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"google_benchmark", "github_action", "bencher",
                                             "junit", "markdown"}));
}

}  // namespace
}  // namespace headroom
