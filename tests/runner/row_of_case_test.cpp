// SPDX-License-Identifier: Apache-2.0
#include "src/runner/row_of_case.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/runner/rule_of_thumb.h"

namespace headroom {
namespace {

Column figure(const std::string& name) {
  Column column;
  column.name = name;
  column.type = ColumnType::number;
  return column;
}

Row row_with_published(double published) {
  Catalog catalog;
  catalog.columns = {figure("run_peak_reserved_bytes"), figure("run_peak_reserved_error_percent")};
  Case one;
  one.published = {{"run_peak_reserved_bytes", published}};
  return with_published(catalog, {{"run_peak_reserved_bytes", 6e9}}, one);
}

TEST(RowOfCase, has_the_error_in_percent_of_what_was_published) {
  EXPECT_DOUBLE_EQ(*number_in(row_with_published(8e9), "run_peak_reserved_error_percent"), -25);
  EXPECT_DOUBLE_EQ(*number_in(row_with_published(4e9), "run_peak_reserved_error_percent"), 50);
  EXPECT_FALSE(number_in(row_with_published(0), "run_peak_reserved_error_percent"));
}

TEST(RowOfCase, has_what_a_step_takes_of_an_update_of_the_published_run) {
  Catalog catalog;
  catalog.columns = {figure("kind"), figure("step_time_median_ns"),
                     figure("step_time_lower_bound_ns"), figure("step_time_estimate_ns"),
                     figure("step_time_of_published_percent")};
  const auto percent = [&](const Row& row, const nlohmann::ordered_json& published) {
    Case one;
    one.published = published;
    catalog.columns.push_back(figure("published_run_time_s"));
    catalog.columns.push_back(figure("published_updates"));
    return number_in(with_published(catalog, row, one), "step_time_of_published_percent");
  };
  const Row measured = {{"kind", "measured"}, {"step_time_median_ns", 3e9}};
  const Row planned = {{"kind", "planned"}, {"step_time_lower_bound_ns", 500'000'000}};
  EXPECT_DOUBLE_EQ(*percent(measured, {{"run_time_s", 120}, {"updates", 60}}), 150);
  EXPECT_DOUBLE_EQ(*percent(planned, {{"run_time_s", 120}, {"updates", 60}}), 25);
  Row estimated = planned;
  estimated["step_time_estimate_ns"] = 1'000'000'000;
  EXPECT_DOUBLE_EQ(*percent(estimated, {{"run_time_s", 120}, {"updates", 60}}), 50);
  EXPECT_FALSE(percent(planned, {{"run_time_s", 120}}));
  EXPECT_FALSE(percent(planned, {{"run_time_s", 120}, {"updates", 0}}));
  EXPECT_FALSE(percent({{"kind", "planned"}}, {{"run_time_s", 120}, {"updates", 60}}));
}

Row row_of_rule(const std::string& precision, const std::string& optimizer) {
  return {{"ranks", 1},
          {"techniques", ""},
          {"precision", precision},
          {"optimizer", optimizer},
          {"parameters", 1000},
          {"model_states_bytes", 1},
          {"peak_activations_bytes", 500},
          {"driver_peak_bytes", 1}};
}

TEST(RuleOfThumb, counts_bytes_a_parameter_as_its_source_does) {
  const auto states = [](const std::string& precision, const std::string& optimizer) {
    return rule_model_states_bytes(row_of_rule(precision, optimizer), Case());
  };
  EXPECT_EQ(states("mixed_float16", "adamw"), 18'000);  // the source's own sum
  EXPECT_EQ(states("float32", "adam"), 16'000);
  EXPECT_EQ(states("mixed_bfloat16", "adam_8bit"), 12'000);
  EXPECT_EQ(states("float32", "sgd"), 8'000);
  EXPECT_EQ(states("float32", "adafactor"), std::nullopt);
  EXPECT_EQ(states("bfloat16", "adam"), std::nullopt);
}

TEST(RuleOfThumb, knows_the_momentum_of_the_case_and_of_the_technique_before_it) {
  const Row row = row_of_rule("float32", "sgd");
  Case one;
  one.fields = {{"train", {{"optimizer", {{"name", "sgd"}, {"momentum", 0.9}}}}}};
  EXPECT_EQ(rule_model_states_bytes(row, one), 12'000);
  one.techniques = {{{"name", "sgd"}, {"momentum", 0.0}}};
  EXPECT_EQ(rule_model_states_bytes(row, one), 8'000);
}

TEST(RuleOfThumb, of_all_memory_adds_activations_and_2_gb) {
  Row row = row_of_rule("float32", "adamw");
  EXPECT_EQ(rule_driver_peak_bytes(row), 16'000 + 500 + 2'000'000'000);
  const Row others = {{"techniques", "bfloat16"},
                      {"precision", "bfloat16"},
                      {"optimizer", "sgd"},
                      {"peak_activations_bytes", 0},
                      {"driver_peak_bytes", nullptr}};
  for (const auto& [column, other] : others.items()) {
    Row changed = row;
    changed[column] = other;
    EXPECT_EQ(rule_driver_peak_bytes(changed), std::nullopt) << column;
  }
}

TEST(RuleOfThumb, has_none_for_ranks_for_what_has_no_figure_and_for_more_than_an_integer_holds) {
  Row row = row_of_rule("float32", "adam");
  row["ranks"] = 4;
  EXPECT_EQ(rule_model_states_bytes(row, Case()), std::nullopt);
  EXPECT_EQ(rule_driver_peak_bytes(row), std::nullopt);
  row = row_of_rule("float32", "adam");
  row.erase("model_states_bytes");
  EXPECT_EQ(rule_model_states_bytes(row, Case()), std::nullopt);
  row = row_of_rule("float32", "adam");
  row["parameters"] = std::numeric_limits<std::int64_t>::max() / 16;
  EXPECT_TRUE(rule_model_states_bytes(row, Case()));
  EXPECT_EQ(rule_driver_peak_bytes(row), std::nullopt);
}

}  // namespace
}  // namespace headroom
