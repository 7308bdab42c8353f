// SPDX-License-Identifier: Apache-2.0
// The worker as the runner sees it: a request on standard input, messages on descriptor 3.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/core/messages.h"
#include "tests/worker/small_case.h"

namespace headroom {
namespace {

/// All messages of one worker process that finds no GPU, in order.
std::vector<Json> messages_of(const Json& request) {
  const TemporaryFolder folder;
  std::ofstream(folder / "request.json") << request.dump();
  const std::string command = "CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1 " HEADROOM_BUILD_DIR
                              "/headroom-worker < '" +
                              folder / "request.json" + "' 3> '" + folder / "messages" + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(folder / "messages");
  std::vector<Json> messages;
  for (std::string line; std::getline(file, line);) messages.push_back(Json::parse(line));
  return messages;
}

Json measure_request(const Json& values) {
  return {{"nonce", "n1"}, {"request", "measure"}, {"device", "cpu"}, {"case", values}};
}

Json record_of_process(const Json& values) {
  const std::vector<Json> messages = messages_of(measure_request(values));
  if (messages.empty()) return {};
  EXPECT_EQ(messages.back().at("event"), "record");
  return messages.back().at("record");
}

/// The columns that have to be the same in every run.
std::map<std::string, Json> repeatable(const Json& record) {
  std::map<std::string, Json> values;
  for (const auto& [name, value] : record.at("columns").items()) {
    const bool of_the_allocator = name.ends_with("_bytes") && name != "host_peak_bytes";
    const bool of_learning = name.ends_with("_loss") || name == "first_gradient_norm" ||
                             name == "held_out_accuracy" || name == "flops_per_step";
    if (of_the_allocator || of_learning) values[name] = value;
  }
  values["loss"] = record.at("loss");
  return values;
}

TEST(ProcessTest, MeasuresACase) {
  const Json record = record_of_process(small_case());
  ASSERT_EQ(record.at("status"), "ok") << record.dump(1);
  const Json& columns = record.at("columns");
  std::int64_t parts = 0;
  for (const auto& [name, value] : columns.items()) {
    if (name.starts_with("peak_") && name.ends_with("_bytes")) parts += value.get<std::int64_t>();
  }
  const auto run = columns.at("run_peak_allocated_bytes").get<std::int64_t>();
  EXPECT_EQ(parts, run);
  EXPECT_GE(run, columns.at("steady_peak_allocated_bytes").get<std::int64_t>());
  EXPECT_GE(run, columns.at("init_peak_allocated_bytes").get<std::int64_t>());
  EXPECT_EQ(columns.at("init_peak_allocated_bytes"), columns.at("peak_weights_bytes"));
  EXPECT_EQ(record.at("loss").size(), 1U + 1U + 2U);  // warm-up, counting, timing
  EXPECT_EQ(record.at("step_time_ns").size(), 2U);
  ASSERT_EQ(record.at("data_wait_ns").size(), 2U);
  for (const int step : {0, 1}) {  // with no worker's threads a wait is all of the loading
    EXPECT_GT(record.at("data_wait_ns")[step], 0);
    EXPECT_LT(record.at("data_wait_ns")[step], record.at("step_time_ns")[step]);
  }
  EXPECT_GT(columns.at("flops_per_step").get<std::int64_t>(), 0);
  EXPECT_GT(columns.at("host_peak_bytes").get<std::int64_t>(), run);
}

TEST(ProcessTest, RepeatsItselfToTheLastBit) {
  Json values = small_case();
  values["techniques"] = {{{"name", "activation_checkpointing"}}, {{"name", "optimizer_offload"}}};
  const Json first = record_of_process(values);
  ASSERT_EQ(first.at("status"), "ok") << first.dump(1);
  EXPECT_EQ(repeatable(first), repeatable(record_of_process(values)));
  EXPECT_GT(repeatable(first).size(), 15U);
}

TEST(ProcessTest, CountsTheHostLinkByStep) {
  Json values = small_case();
  values["techniques"] = {{{"name", "optimizer_offload"}}};
  const Json columns = record_of_process(values).at("columns");
  EXPECT_EQ(columns.at("host_link_bytes_per_step"),  // gradients there, weights back
            2 * 4 * columns.at("parameters").get<std::int64_t>());
}

// Nothing is learned here, so that the weights are the same.
TEST(ProcessTest, TakesTheAccuracyWithoutDropout) {
  const auto accuracy = [](double dropout) {
    Json values = small_case();
    values["model"]["dropout"] = dropout;
    values["train"]["optimizer"]["lr"] = 0.0;
    values["train"]["held_out_samples"] = 200;
    return record_of_process(values).at("columns").at("held_out_accuracy");
  };
  EXPECT_EQ(accuracy(0.0), accuracy(0.8));
}

TEST(ProcessTest, TellsItsProgressUnderItsNonce) {
  const std::vector<Json> messages = messages_of(measure_request(small_case()));
  ASSERT_GE(messages.size(), 8U);
  EXPECT_EQ(messages.front().at("phase"), "start");
  for (const Json& message : messages) EXPECT_EQ(message.at("nonce"), "n1");
  for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
    EXPECT_EQ(messages[i].at("event"), "progress");
  }
}

TEST(ProcessTest, AnswersWhenMemoryEnds) {
  Json values = small_case();
  values["data"]["image_size"] = 224;
  values["train"]["batch_size"] = 64;
  values["limits"]["memory_bytes"] = 300'000'000;
  const Json record = record_of_process(values);
  EXPECT_EQ(record.at("status"), "out_of_memory") << record.dump(1);
  EXPECT_NE(record.at("reason"), "");
}

TEST(ProcessTest, AnswersWhereEachSizeIsAllowedAndTheirProductIsBeyondAnyMachine) {
  Json values = small_case();
  constexpr std::int64_t kMost = 1 << 20;
  values["data"] = {{"name", "random_images"}, {"image_size", 4080}, {"samples", kMost}};
  values["train"]["batch_size"] = kMost;
  const Json record = record_of_process(values);
  EXPECT_EQ(record.at("status"), "out_of_memory") << record.dump(1);
  const std::int64_t bytes = kMost * 3 * 4080 * 4080 * 4;
  EXPECT_TRUE(contains(record.at("reason"), std::to_string(bytes))) << record.at("reason");
}

TEST(ProcessTest, AnswersWhatItCanNotDo) {
  Json values = small_case();
  values["techniques"] = {{{"name", "bfloat16"}}, {{"name", "mixed_precision"}}};
  EXPECT_EQ(record_of_process(values).at("status"), "unsupported");
  values = small_case();
  values["train"]["batch"] = 4;
  const Json record = record_of_process(values);
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_TRUE(contains(record.at("reason"), "batch"));
}

TEST(ProcessTest, KeepsWhatItMeasuredWhereItCanNotSaveTheWeights) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  Json values = small_case();
  values["train"]["save_weights"] = file;  // no folder
  const Json record = record_of_process(values);
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_TRUE(contains(record.at("reason"), file)) << record.at("reason");
  ASSERT_TRUE(record.contains("columns"));
  EXPECT_GT(record.at("columns").at("run_peak_allocated_bytes"), 0);
  EXPECT_EQ(record.at("step_time_ns").size(), 2U);
}

TEST(ProcessTest, PlansNothingWhereNoDryRunIsLoaded) {
  Json request = measure_request(small_case());
  request.update({{"device", "cuda"}, {"planned", true}});
  const Json record = messages_of(request).back().at("record");
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_TRUE(contains(record.at("reason"), "was not loaded")) << record.dump(1);
}

TEST(ProcessTest, AnswersWhereThereIsNoDevice) {
  Json measure = measure_request(small_case());
  measure["snapshot"] = "/nowhere/snapshot.pickle";
  const Json forward = {{"nonce", "n1"},
                        {"request", "forward"},
                        {"model", {{"name", "vit_ti_16"}}},
                        {"weights", "/nowhere/weights"},
                        {"inputs", "/nowhere/inputs"},
                        {"output", "/nowhere/output"}};
  for (Json request : {measure, forward}) {
    request["device"] = "cuda";
    const Json record = messages_of(request).back().at("record");
    EXPECT_EQ(record.at("status"), "unsupported") << record.dump(1);
    EXPECT_TRUE(contains(record.at("reason"), "no CUDA")) << record.dump(1);
  }
}

}  // namespace
}  // namespace headroom
