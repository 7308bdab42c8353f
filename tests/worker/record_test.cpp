// SPDX-License-Identifier: Apache-2.0
#include "src/worker/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/core/error.h"
#include "src/core/message_size.h"
#include "src/core/peak_entry.h"
#include "src/memory/ledger.h"
#include "src/results/columns.h"
#include "tests/core/messages.h"
#include "tests/worker/small_case.h"

namespace headroom {
namespace {

/// A run of two steps of a model with 100 parameters.
Measurement plausible() {
  Measurement m;
  m.init.allocated_bytes = 400;
  m.steady.allocated_bytes = 2000;
  m.run.allocated_bytes = 2000;
  m.peak.bytes = 2000;
  m.peak.by_category[static_cast<std::size_t>(Category::weights)] = 400;
  m.peak.by_category[static_cast<std::size_t>(Category::temporary)] = 1600;
  m.step_time_ns = {30, 10, 20};
  m.data_wait_ns = {3, 9, 5};
  m.losses = {2.5, 2.0};
  m.evidence.steps = 3;
  m.evidence.backward_passes = 3;
  return m;
}

Json record_of(const Json& values, const Measurement& measurement) {
  return make_record(read_case(values, at::kCPU), measurement);
}

TEST(RecordTest, AGoodRunIsOk) {
  const Json record = record_of(small_case(), plausible());
  EXPECT_EQ(record.at("status"), "ok");
  EXPECT_EQ(record.at("reason"), "");
  const Json& columns = record.at("columns");
  EXPECT_EQ(columns.at("run_peak_allocated_bytes"), 2000);
  EXPECT_EQ(columns.at("peak_weights_bytes"), 400);
  EXPECT_EQ(columns.at("step_time_median_ns"), 20);
  EXPECT_EQ(columns.at("step_time_mad_ns"), 10);
  EXPECT_EQ(columns.at("step_time_min_ns"), 10);
  EXPECT_EQ(columns.at("data_wait_median_ns"), 5);
  EXPECT_EQ(columns.at("first_loss"), 2.5);
  EXPECT_EQ(columns.at("last_loss"), 2.0);
}

TEST(RecordTest, NamesTheTensorsOfThePeakAndTheCourseOfAStep) {
  Measurement m = plausible();
  const Position origin{.phase = Phase::forward, .block = 1, .op = "aten::add"};
  m.peak.tensors = {{2, 800, Category::temporary, origin}, {1, 400, Category::weights, {}}};
  m.step_memory = {{Phase::load, kNoBlock, 400}, {Phase::forward, 1, 2000}};
  const Json record = record_of(small_case(), m);
  EXPECT_EQ(record.at("peak_tensors"),
            Json::parse(R"([[2, 800, "temporary", "forward", 1, "aten::add"],
                            [1, 400, "weights", "build", null, ""]])"));
  EXPECT_EQ(record.at("step_memory"),
            Json::parse(R"([["load", null, 400], ["forward", 1, 2000]])"));
}

TEST(RecordTest, TheLongestOneFitsInAMessage) {
  constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();
  constexpr double kLong = -2.2250738585072014e-308;
  static const std::string op(120, 'x');
  Json values = small_case();
  values["train"].update({{"steps", 10'000}, {"warmup_steps", 10'000}});  // no more are allowed
  Measurement m = plausible();
  m.losses.assign(10'000 + 1 + 10'000, kLong);
  m.step_time_ns.assign(10'000, kMany);
  m.data_wait_ns.assign(10'000, kMany);
  const Position origin{.phase = Phase::evaluate, .block = kMany, .op = op.c_str()};
  m.peak.tensors.assign(kMaxPeakEntries, {kMany, kMany, Category::optimizer_state, origin});
  m.step_memory.assign(Ledger::kMaxPlaces, {Phase::evaluate, kMany, kMany});
  const std::size_t size = record_of(values, m).dump().size();
  EXPECT_LT(size + 1000, kMaxMessageBytes);  // the rest of the message
  for (const char* field : {"steps", "warmup_steps"}) {
    values["train"][field] = 10'001;
    EXPECT_THROW(read_case(values, at::kCPU), ConfigError) << field;
    values["train"][field] = 10'000;
  }
}

TEST(RecordTest, ARemainderOfOneByteFailsTheCase) {
  for (const std::int64_t remainder : {-1, 1}) {
    Measurement m = plausible();
    m.run.allocated_bytes += remainder;
    const Json record = record_of(small_case(), m);
    EXPECT_EQ(record.at("status"), "failed");
    EXPECT_TRUE(contains(record.at("reason"), std::to_string(2000 + remainder)));
  }
}

TEST(RecordTest, ATechniqueThatDidNothingIsInactive) {
  Json values = small_case();
  values["techniques"] = {{{"name", "activation_checkpointing"}}};
  const Json record = record_of(values, plausible());
  EXPECT_EQ(record.at("status"), "inactive");
  EXPECT_TRUE(contains(record.at("reason"), "no block ran again"));
}

TEST(RecordTest, WhatWasNotMeasuredIsLeftOut) {
  Measurement m = plausible();
  m.losses.clear();
  m.step_time_ns.clear();
  const Json record = record_of(small_case(), m);
  for (const char* name : {"first_loss", "step_time_median_ns", "samples_per_second", "gpu_uuid",
                           "run_peak_reserved_bytes", "held_out_accuracy", "peak_block"}) {
    EXPECT_FALSE(record.at("columns").contains(name)) << name;
  }
}

TEST(RecordTest, AFailureHasItsStatusAndReason) {
  const Json record = make_failure("unsupported", "no such kernel");
  EXPECT_EQ(record, Json({{"status", "unsupported"}, {"reason", "no such kernel"}}));
}

TEST(ColumnsTest, AWorkerFillsItsOwnAndInTheirOrder) {
  std::vector<std::string> own;
  for (const ColumnEntry& column : kColumns) {
    if (column.origin == kWorkerOrigin) own.emplace_back(column.name);
  }
  auto next = own.begin();
  const WorkerCase read = read_case(small_case(), at::kCPU);
  const Json values = worker_columns(read.recipe, plausible());
  for (const auto& [name, value] : values.items()) {
    next = std::find(next, own.end(), name);
    ASSERT_NE(next, own.end()) << name;
    ++next;
  }
}

TEST(ColumnsTest, AValueHasTheTypeOfItsColumn) {
  const WorkerCase read = read_case(small_case(), at::kCPU);
  const Measurement m = plausible();
  const Json values = worker_columns(read.recipe, m);
  EXPECT_GT(values.size(), 20U);
  for (const auto& [name, value] : values.items()) {
    const ColumnType type = find_column(name)->type;
    const bool fits = type == ColumnType::text      ? value.is_string()
                      : type == ColumnType::integer ? value.is_number_integer()
                                                    : value.is_number_float();
    EXPECT_TRUE(fits) << name << ": " << value.dump();
  }
}

}  // namespace
}  // namespace headroom
