// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/report/sections.h"
#include "src/report/svg.h"
#include "tests/report/sample_results.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const CaseResult* result) { return result == nullptr ? "" : result->name; }

TEST(Groups, compare_with_the_row_before_and_the_plain_one_of_the_same_fields) {
  CaseResult small_plain = sample_case("small", "", 50);
  small_plain.work["train"]["batch_size"] = 4;
  CaseResult other = sample_case("other", "sgd", 10);
  other.work["train"]["batch_size"] = 2;
  const std::vector<CaseResult> cases = {sample_case("plain", "", 100), small_plain,
                                         sample_failure("failed", "crashed", "why"),
                                         sample_case("sgd", "sgd", 40), other};
  const auto groups = group_cases(cases);
  ASSERT_EQ(groups.size(), 1U);
  const auto& lines = groups[0].lines;
  EXPECT_EQ(name_of(lines[0].before), "");
  EXPECT_EQ(name_of(lines[1].before), "plain");
  EXPECT_EQ(name_of(lines[1].plain), "");
  EXPECT_EQ(name_of(lines[3].before), "small");
  EXPECT_EQ(name_of(lines[3].plain), "plain");
  EXPECT_EQ(name_of(lines[4].plain), "small");
}

TEST(Groups, part_models_and_ranks_and_number_cases_as_they_stand) {
  std::vector<CaseResult> cases = {sample_case("a", "", 1), sample_case("b", "", 1),
                                   sample_case("c", "", 1), sample_case("d", "ddp", 1)};
  cases[1].row["model"] = "bert";
  cases[3].row["ranks"] = 4;
  const auto groups = group_cases(cases);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].title, "vit");
  EXPECT_EQ(groups[0].lines[1].row()["case"], "c");
  EXPECT_EQ(groups[0].lines[1].number, 2U);
  EXPECT_EQ(groups[1].lines[0].number, 3U);
  EXPECT_EQ(groups[2].title, "vit on 4 ranks");
}

TEST(Tradeoff, knows_the_cases_that_no_other_one_beats) {
  const std::vector<CaseResult> cases = {
      sample_case("fast", "", 100, 50),   sample_case("worse", "a", 101, 49),
      sample_case("small", "b", 10, 20),  sample_case("slower", "c", 10, 19),
      sample_case("same", "d", 10, 20),   sample_failure("failed", "crashed", ""),
      sample_case("between", "e", 50, 30)};
  const auto groups = group_cases(cases);
  std::string best;
  for (const Tradeoff& one : tradeoffs_of(groups[0])) {
    if (one.is_best) best += one.line->result->name + " ";
  }
  EXPECT_EQ(best, "fast between small same ");
}

TEST(Tradeoff, of_a_plan_is_between_the_bounds_of_its_estimate) {
  const std::vector<CaseResult> cases = {sample_plan(sample_case("a", "", 100, 50))};
  const auto groups = group_cases(cases);
  const auto list = tradeoffs_of(groups[0]);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_DOUBLE_EQ(list[0].speed.likely, 50);
  EXPECT_DOUBLE_EQ(list[0].speed.least, 25);
  EXPECT_DOUBLE_EQ(list[0].speed.most, 100);
}

TEST(FigureSources, has_signed_errors_against_what_was_published_and_planned) {
  CaseResult one = sample_case("a", "", 100);
  one.row["published_run_peak_allocated_bytes"] = 80 << 20;
  one.row["planned_run_peak_allocated_bytes"] = 125 << 20;
  const auto list = figure_sources(one, nullptr);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].figure, "run_peak_allocated_bytes");
  EXPECT_DOUBLE_EQ(*list[0].measured_error, 25);
  EXPECT_DOUBLE_EQ(*list[0].planned_error, 56.25);
  EXPECT_DOUBLE_EQ(*list[0].measured_off_plan, -20);
}

TEST(FigureSources, has_what_a_rule_of_thumb_says_and_no_figure_of_the_run_as_a_whole) {
  CaseResult one = sample_case("a", "", 100);
  one.row["rule_run_peak_allocated_bytes"] = 5;
  one.row["published_run_time_s"] = 60;
  one.row["published_updates"] = 300;
  const auto list = figure_sources(one, nullptr);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].figure, "run_peak_allocated_bytes");
  EXPECT_EQ(list[0].rule, 5);
  EXPECT_EQ(list[0].published, std::nullopt);
}

TEST(RunTimes, stand_beside_the_steps_of_cases_that_have_both) {
  CaseResult one = sample_case("a", "", 100);
  EXPECT_TRUE(run_time_section(sample_results("s", "measured", {one})).empty());
  one.row["step_time_median_ns"] = 250'000'000;
  one.row["published_run_time_s"] = 60;
  one.row["published_updates"] = 300;
  const std::string html =
      run_time_section(sample_results("s", "measured", {one, sample_case("b", "", 1)})).markup();
  EXPECT_NE(html.find("125"), std::string::npos) << html;
  EXPECT_NE(html.find(">300<"), std::string::npos) << html;
  EXPECT_EQ(html.find("<bdi>b</bdi>"), std::string::npos) << html;
  EXPECT_EQ(html.find("estimate</th>"), std::string::npos) << html;
}

TEST(FigureSources, puts_the_published_context_in_a_plan_s_driver_figure) {
  CaseResult plan = sample_plan(sample_case("a", "", 100));
  plan.row["driver_peak_bytes"] = 1500;
  plan.row["context_bytes"] = 500;
  plan.row["published_driver_peak_bytes"] = 1600;
  plan.row["published_context_bytes"] = 600;
  const auto list = figure_sources(plan, nullptr);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].planned, 1600);
  EXPECT_EQ(list[0].planned_error, 0);
}

TEST(FigureSources, takes_a_plan_of_the_same_case_for_the_same_gpu_only) {
  const CaseResult one = sample_case("a", "", 100);
  const Results measured = sample_results("s", "measured", {one});
  const auto plan_found = [&](const std::string& suite, CaseResult plan) {
    const std::vector<Results> all = {measured, sample_results(suite, "planned", {plan})};
    return find_plan(all[0], all[0].cases[0], all) != nullptr;
  };
  EXPECT_TRUE(plan_found("s", sample_plan(one)));
  EXPECT_FALSE(plan_found("t", sample_plan(one)));
  CaseResult other = sample_plan(one);
  other.row["device_name"] = "H200";
  EXPECT_FALSE(plan_found("s", other));
  other = sample_plan(one);
  other.work["train"]["batch_size"] = 9;
  EXPECT_FALSE(plan_found("s", other));
}

TEST(MemoryTimeline, is_read_from_a_record_that_has_one) {
  const auto timeline = read_memory_timeline(sample_case("a", "", 2).record);
  ASSERT_EQ(timeline.size(), 5U);
  EXPECT_EQ(timeline[2].phase, "forward");
  EXPECT_EQ(timeline[2].block, 1);
  EXPECT_EQ(timeline[2].bytes, 2 << 20);
  EXPECT_EQ(timeline[4].block, std::nullopt);
  for (const Json& record :
       {Json(nullptr), Json::object(), Json{{"step_memory", 1}},
        Json{{"step_memory", {{"load", nullptr}}}}, Json{{"step_memory", {{"load", "x", 1}}}},
        Json{{"step_memory", {{"load", nullptr, "1"}}}}}) {
    EXPECT_TRUE(read_memory_timeline(record).empty()) << record;
  }
}

TEST(Scale, has_round_figures) {
  const auto texts = [](const std::vector<Tick>& ticks) {
    std::string text;
    for (const Tick& tick : ticks) text += tick.text + " ";
    return text;
  };
  EXPECT_EQ(texts(byte_ticks(220.0 * (1 << 20), 2)), "100 MiB 200 MiB ");
  EXPECT_EQ(texts(byte_ticks(24.5 * (1 << 30), 5)), "5 GiB 10 GiB 15 GiB 20 GiB ");
  EXPECT_EQ(texts(number_ticks(0.9, 5)), "0.2 0.4 0.6 0.8 ");
  EXPECT_EQ(texts(number_ticks(0, 5)), "");
}

TEST(Rerun, names_the_case_alone_whatever_is_in_its_name) {
  Results results = sample_results("s", "measured", {sample_case("a@x=it's $(1).5", "", 1)});
  results.journal = "my out/journal.jsonl";
  EXPECT_EQ(
      rerun_command(results, results.cases[0]),
      R"(./headroom run 'my out/suite.yaml' --only '^a@x=it'\''s \$\(1\)\.5$' --device cuda)");
  const Results plan = sample_results("s", "planned", {sample_plan(sample_case("a", "", 1))});
  EXPECT_EQ(rerun_command(plan, plan.cases[0]),
            "./headroom plan out/s/suite.yaml --only '^a$' --gpu a100-40gb");
}

TEST(RerunCommand, of_a_program_has_its_words) {
  Results plan = sample_results("s", "planned", {sample_plan(sample_case("a", "", 1))});
  plan.cases[0].work = {{"ranks", 8},
                        {"rank", "0,7"},
                        {"gpu_memory_bytes", 1000},
                        {"program", {"python3", "my train.py", 7}}};
  EXPECT_EQ(rerun_command(plan, plan.cases[0]),
            "./headroom plan --gpu a100-40gb --ranks 8 --rank 0,7 --gpu-memory 1000 -- python3 "
            "'my train.py' 7");
}

}  // namespace
}  // namespace headroom
