// SPDX-License-Identifier: Apache-2.0
#include "src/compare/comparison.h"

#include <gtest/gtest.h>

#include "src/compare/comparison_text.h"
#include "src/core/error.h"
#include "tests/compare/made_results.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMiB = 1 << 20;

/// Two cases compared, as one process measured them.
CaseChange change_of(const CaseResult& old_case, const CaseResult& new_case) {
  return compare({made_results({old_case})}, {made_results({new_case})}).cases.at(0);
}

Trend trend_of(const CaseChange& change, const std::string& column) {
  for (const FigureChange& figure : change.figures) {
    if (figure.column == column) return figure.trend;
  }
  ADD_FAILURE() << "no figure " << column;
  return Trend::unclear;
}

/// One more tensor of 1 MiB in a block.
CaseResult grown_case(std::int64_t block) {
  CaseResult one = made_case("a");
  one.row["run_peak_allocated_bytes"] = 5 * kMiB;
  one.record["peak_tensors"].push_back({1, kMiB, "temporary", "forward", block, "aten::clone"});
  return one;
}

TEST(Comparison, of_equal_results_is_the_same) {
  const Comparison comparison = compare({made_results({made_case("a"), made_case("b")})},
                                        {made_results({made_case("b"), made_case("a")})});
  ASSERT_EQ(comparison.cases.size(), 2U);
  for (const CaseChange& one : comparison.cases) {
    EXPECT_EQ(one.trend, Trend::unclear) << "one process each can't tell of time";
    EXPECT_EQ(trend_of(one, "run_peak_allocated_bytes"), Trend::same);
    EXPECT_EQ(trend_of(one, "first_loss"), Trend::same);
  }
}

TEST(Comparison, names_the_tensor_that_one_byte_more_is_of) {
  const CaseChange change = change_of(made_case("a"), grown_case(1));
  EXPECT_EQ(change.trend, Trend::worse);
  EXPECT_EQ(trend_of(change, "run_peak_allocated_bytes"), Trend::worse);
  ASSERT_EQ(change.growth.size(), 1U);
  EXPECT_EQ(growth_text(change.growth[0]),
            "temporary +1.00 MiB: 1 more of 1.00 MiB in block 1, made in forward, aten::clone");
  EXPECT_EQ(change_of(grown_case(1), made_case("a")).growth[0].total_bytes(), -kMiB);

  CaseResult rounded = made_case("a");
  rounded.row["run_peak_allocated_bytes"] = 4 * kMiB + 1;
  rounded.row["peak_rounding_bytes"] = 1;
  const CaseChange byte = change_of(made_case("a"), rounded);
  EXPECT_EQ(byte.trend, Trend::worse);
  EXPECT_EQ(growth_text(byte.growth.at(0)), "rounding +1 bytes");
}

TEST(Growth, of_blocks_is_that_of_all_of_them) {
  Growth growth{"activations", "forward", {}, "aten::linear", 1000, 2};
  EXPECT_EQ(growth.total_bytes(), 2000);
  growth.blocks = {0, 1, 2};
  EXPECT_EQ(growth.total_bytes(), 6000);
}

TEST(Growth, of_a_program_is_by_its_lines) {
  const auto program = [](double peak, const Json& holders) {
    CaseResult one = made_case("a");
    one.row["run_peak_allocated_bytes"] = peak;
    one.record = {{"processes", {{{"peak_allocated_bytes", peak}, {"holders", holders}}}}};
    return one;
  };
  const auto holder = [](const char* kind, int bytes, const char* line) {
    return Json{{"kind", kind}, {"bytes", bytes}, {"blocks", 1}, {"line", line}};
  };
  const CaseResult before =
      program(300, {holder("parameters", 100, "train.py:3"), holder("gradients", 100, "train.py:9"),
                    holder("activations", 100, "train.py:8")});
  // Two lines above all, and a layer twice as wide.
  const CaseResult after = program(
      512, {holder("parameters", 212, "train.py:5"), holder("gradients", 200, "train.py:11"),
            holder("activations", 100, "train.py:10")});
  const std::vector<Growth> list = growth(before, after);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(growth_text(list[0]), "parameters +112 bytes, allocated at train.py:5");
  EXPECT_EQ(growth_text(list[1]), "gradients +100 bytes, allocated at train.py:11");
  EXPECT_TRUE(growth(before, before).empty());
}

TEST(Comparison, takes_a_tensor_that_names_no_operator_for_one_that_is_alike) {
  CaseResult later = grown_case(1);
  later.record["peak_tensors"] = {{2, kMiB, "weights", "build", nullptr, ""},
                                  {1, kMiB, "activations", "forward", 0, ""},
                                  {1, kMiB, "activations", "forward", 1, "aten::add"},
                                  {1, kMiB, "temporary", "forward", 1, ""}};
  const CaseChange change = change_of(made_case("a"), later);
  ASSERT_EQ(change.growth.size(), 1U);
  EXPECT_EQ(growth_text(change.growth[0]),
            "temporary +1.00 MiB: 1 more of 1.00 MiB in block 1, made in forward");
}

TEST(Comparison, knows_the_machine_of_a_case_that_crashed) {
  CaseResult before = made_case("a");
  before.row["device_name"] = "a machine";
  CaseResult crashed = made_case("a");
  crashed.row = {{"suite", "s"}, {"case", "a"}, {"status", "crashed"}, {"reason", "SIGSEGV"}};
  const CaseChange change = change_of(before, crashed);
  EXPECT_EQ(change.trend, Trend::worse);
  EXPECT_EQ(status_text(change), "crashed, was ok: SIGSEGV");
  crashed.environment["cores"] = 64;
  EXPECT_EQ(change_of(before, crashed).trend, Trend::unclear);
}

TEST(Comparison, takes_the_bytes_of_any_old_run_as_the_same) {
  CaseResult other = made_case("a");
  other.row["run_peak_allocated_bytes"] = 5 * kMiB;
  const auto compared = [&](const std::vector<Results>& old_results, const CaseResult& now) {
    return trend_of(compare(old_results, {made_results({now})}).cases[0],
                    "run_peak_allocated_bytes");
  };
  const std::vector<Results> both = {made_results({made_case("a")}), made_results({other})};
  EXPECT_EQ(compared(both, other), Trend::same);
  EXPECT_EQ(compared(both, made_case("a")), Trend::same);
  EXPECT_EQ(compared({made_results({other})}, made_case("a")), Trend::better);
  EXPECT_EQ(compared({made_results({made_case("a")})}, other), Trend::worse);
}

TEST(Comparison, lets_measured_reserved_bytes_move_by_a_segment) {
  const auto with = [](std::int64_t bytes) {
    CaseResult one = made_case("a");
    one.row["run_peak_reserved_bytes"] = bytes;
    return one;
  };
  const auto trend = [&](std::int64_t bytes) {
    return trend_of(change_of(with(100 * kMiB), with(bytes)), "run_peak_reserved_bytes");
  };
  EXPECT_EQ(trend(120 * kMiB), Trend::same);
  EXPECT_EQ(trend(120 * kMiB + 1), Trend::worse);
  EXPECT_EQ(trend(80 * kMiB - 1), Trend::better);
}

TEST(Comparison, tells_times_by_processes) {
  const auto trend = [](const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
    return trend_of(compare(made_repeats(old_ns), made_repeats(new_ns)).cases[0],
                    "step_time_median_ns");
  };
  const std::vector<double> base = {100, 101, 100.5, 99.5, 100.2, 99.8, 100.7};
  const auto scaled = [&](double factor) {
    std::vector<double> values = base;
    for (double& value : values) value *= factor;
    return values;
  };
  EXPECT_EQ(trend(base, base), Trend::same);
  EXPECT_EQ(trend(base, scaled(1.05)), Trend::worse);
  EXPECT_EQ(trend(base, scaled(0.95)), Trend::better);
  EXPECT_EQ(trend(base, scaled(1.01)), Trend::same);
  EXPECT_EQ(trend({100}, {200}), Trend::unclear);
  EXPECT_EQ(trend({90, 100, 110, 95, 105}, {91, 101, 111, 96, 106}), Trend::unclear);
}

TEST(Comparison, lets_losses_and_accuracy_move_by_their_class) {
  const auto trend = [](const std::string& column, double old_value, double new_value,
                        const std::string& precision = "float32") {
    CaseResult before = made_case("a");
    CaseResult after = made_case("a");
    before.row["precision"] = after.row["precision"] = precision;
    before.row[column] = old_value;
    after.row[column] = new_value;
    return trend_of(change_of(before, after), column);
  };
  EXPECT_EQ(trend("first_loss", 1.0, 1.000001), Trend::same);
  EXPECT_EQ(trend("first_loss", 1.0, 1.0001), Trend::worse);
  EXPECT_EQ(trend("first_loss", 1.0, 1.0001, "mixed_bfloat16"), Trend::same);
  EXPECT_EQ(trend("first_gradient_norm", 1.0, 0.9), Trend::worse);
  EXPECT_EQ(trend("last_loss", 1.0, 1.0005), Trend::same);
  EXPECT_EQ(trend("last_loss", 1.0, 1.1), Trend::worse);
  // Of 100 samples: 3 standard errors of the difference of two such accuracies are 0.127.
  EXPECT_EQ(trend("held_out_accuracy", 0.9, 0.78), Trend::same);
  EXPECT_EQ(trend("held_out_accuracy", 0.9, 0.77), Trend::worse);
  EXPECT_EQ(trend("held_out_accuracy", 0.9, 0.7), Trend::worse);
  EXPECT_EQ(trend("held_out_accuracy", 0.7, 0.95), Trend::better);
}

TEST(Comparison, calls_a_case_that_vanished_or_ends_badly_worse) {
  const Results both = made_results({made_case("a"), made_case("b")});
  const Comparison vanished = compare({both}, {made_results({made_case("a")})});
  EXPECT_EQ(vanished.cases[1].trend, Trend::worse);
  EXPECT_EQ(status_text(vanished.cases[1]), "vanished");

  Results undone = made_results({made_case("a"), made_case("b")});
  undone.cases.pop_back();
  undone.not_done = {"b"};
  EXPECT_EQ(compare({both}, {undone}).cases[1].trend, Trend::worse);
  EXPECT_EQ(status_text(compare({both}, {undone}).cases[1]), "not done, was ok");

  const Comparison appeared = compare({made_results({made_case("a")})}, {both});
  EXPECT_EQ(appeared.cases[1].trend, Trend::same);
  EXPECT_EQ(status_text(appeared.cases[1]), "new, ok");

  for (const char* status : {"crashed", "inactive", "incorrect", "out_of_memory", "timeout"}) {
    CaseResult bad = made_case("a");
    bad.row["status"] = status;
    bad.row["reason"] = "why";
    const CaseChange change = change_of(made_case("a"), bad);
    EXPECT_EQ(change.trend, Trend::worse) << status;
    EXPECT_EQ(status_text(change), status + std::string(", was ok: why"));
    EXPECT_EQ(change_of(bad, made_case("a")).trend, Trend::better) << status;
  }
}

TEST(Comparison, of_one_bad_run_among_repeats_is_worse) {
  std::vector<Results> repeats = made_repeats({100, 100, 100});
  repeats[1].cases[0].row["status"] = "crashed";
  EXPECT_EQ(compare(made_repeats({100, 100, 100}), repeats).cases[0].trend, Trend::worse);
}

TEST(Comparison, names_what_differs_of_machine_and_work_and_tells_no_trend) {
  CaseResult elsewhere = grown_case(0);
  elsewhere.environment["cores"] = 4;
  const Comparison machines =
      compare({made_results({made_case("a")})}, {made_results({elsewhere})});
  EXPECT_EQ(machines.machine_differences, std::vector<std::string>{"cores was 2 and is 4"});
  EXPECT_EQ(machines.cases[0].trend, Trend::unclear);
  EXPECT_FALSE(machines.is_of_the_same());

  CaseResult larger = grown_case(0);
  larger.work["train"]["batch_size"] = 9;
  const Comparison works = compare({made_results({made_case("a"), made_case("b")})},
                                   {made_results({larger, made_case("b")})});
  EXPECT_EQ(works.cases[0].work_differences,
            std::vector<std::string>{"train.batch_size was 8 and is 9"});
  EXPECT_EQ(works.cases[0].trend, Trend::unclear);
  EXPECT_TRUE(works.cases[1].work_differences.empty());

  CaseResult later = made_case("a");
  later.work["train"]["new_option"] = 1;  // of a later version
  EXPECT_TRUE(compare({made_results({made_case("a")})}, {made_results({later})}).is_of_the_same());
}

// A plan is of the GPU that it plays, whatever machine plays it.
TEST(Comparison, takes_the_gpus_that_were_chosen_for_no_difference) {
  std::vector<Results> other = made_repeats({1e8});
  other[0].cases[0].environment["variables"]["CUDA_VISIBLE_DEVICES"] = "3";
  other[0].cases[0].row["gpu_uuid"] = "GPU-3";
  EXPECT_TRUE(compare(made_repeats({1e8}), other).is_of_the_same());
}

TEST(Comparison, of_plans_for_a_gpu_of_other_figures_tells_no_trend) {
  std::vector<Results> plans = made_repeats({1e8});
  plans[0].header["kind"] = "planned";
  std::vector<Results> others = plans;
  plans[0].cases[0].environment["gpu"] = {{"memory_bytes", 1}};
  others[0].cases[0].environment["gpu"] = {{"memory_bytes", 2}};
  EXPECT_EQ(compare(plans, others).machine_differences,
            std::vector<std::string>{"gpu.memory_bytes was 1 and is 2"});
}

TEST(Comparison, of_plans_made_on_two_machines_tells_a_trend) {
  const auto plans = [](CaseResult one, int cores) {
    one.environment["cores"] = cores;
    Results results = made_results({one});
    results.header["kind"] = "planned";
    return std::vector{results};
  };
  const Comparison comparison = compare(plans(made_case("a"), 2), plans(grown_case(0), 4));
  EXPECT_EQ(comparison.machine_differences, std::vector<std::string>{});
  EXPECT_EQ(comparison.cases[0].trend, Trend::worse);
}

TEST(Comparison, refuses_what_has_nothing_in_common_or_is_no_repeat) {
  EXPECT_THROW(compare({made_results({made_case("a")})}, {made_results({made_case("b")})}),
               ResultsError);
  Results other = made_results({made_case("a")});
  other.header["worker"] = "x";
  const Results one = made_results({made_case("a")});
  EXPECT_THROW(compare({one, other}, {one}), ResultsError);
}

TEST(Comparison, has_a_form_for_people_and_for_programs) {
  CaseResult hostile = grown_case(1);
  CaseResult before = made_case("a");
  hostile.name = before.name = "a|<b>\x1b[2J";
  const Comparison comparison = compare({made_results({before})}, {made_results({hostile})});
  const std::string table = comparison_table(comparison);
  EXPECT_NE(table.find("+1.00 MiB (+25.00 %)"), std::string::npos) << table;
  EXPECT_NE(table.find("1 case: 1 worse"), std::string::npos) << table;
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  const std::string markdown = comparison_markdown(comparison);
  EXPECT_NE(markdown.find("a\\|\\<b\\>"), std::string::npos) << markdown;
  const Json json = Json::parse(comparison_json(comparison));
  EXPECT_EQ(json["trend"], "worse");
  EXPECT_EQ(json["cases"][0]["growth"][0]["bytes"], kMiB);
  EXPECT_EQ(json["cases"][0]["figures"][0]["new"], 5 * kMiB);
}

}  // namespace
}  // namespace headroom
