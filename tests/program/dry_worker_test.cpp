// SPDX-License-Identifier: Apache-2.0
// The worker itself over the CUDA that does nothing, as a machine's own CUDA would serve it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const std::string kLibraries = HEADROOM_BUILD_DIR "/dry_run/";
const std::string kCuda = kLibraries + "libcuda.so.1";
const std::string kNvml = kLibraries + "libnvidia-ml.so.1";

/// What a worker answers that finds those libraries in place of the driver's.
Json record_of(Json request, const std::string& libraries) {
  const TemporaryFolder folder;
  request.update({{"nonce", "n1"}, {"device", "cuda"}});
  const std::string input = folder.write("request.json", request.dump());
  const std::string output = folder.write("messages", "");
  Program worker("headroom-worker", {}, [&] {
    dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(output.c_str(), O_WRONLY), 3);
    setenv("LD_PRELOAD", libraries.c_str(), 1);
    setenv("HEADROOM_DRY_RUN_GPU", "v100-16gb", 1);
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
  });
  const Ended ended = worker.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream messages(read_text(output));
  Json last;
  for (std::string line; std::getline(messages, line);) last = Json::parse(line);
  return last.at("record");
}

Json small_case() {
  return {{"request", "measure"},
          {"planned", true},
          {"case",
           {{"name", "small"},
            {"model", {{"name", "vit_ti_16"}}},
            {"data", {{"name", "digits"}, {"image_size", 32}}},
            {"train", {{"batch_size", 2}, {"steps", 1}, {"warmup_steps", 1}}},
            {"limits", Json::object()},
            {"techniques", Json::array()}}}};
}

TEST(DryWorker, WithoutNvmlMeasuresAllTheSameAndLeavesItsColumnsEmpty) {
  const std::vector<std::string> columns_of_nvml = {"gpu_other_processes", "driver_peak_bytes"};
  const Json with = record_of(small_case(), kCuda + ":" + kNvml);
  ASSERT_EQ(with.at("status"), "ok") << with.at("reason");
  const Json without = record_of(small_case(), kCuda);
  ASSERT_EQ(without.at("status"), "ok") << without.at("reason");
  for (const std::string& column : columns_of_nvml) {
    EXPECT_TRUE(with.at("columns").contains(column)) << column;
    EXPECT_FALSE(without.at("columns").contains(column)) << column;
  }
  EXPECT_EQ(with.at("columns").at("run_peak_allocated_bytes"),
            without.at("columns").at("run_peak_allocated_bytes"));
}

Json small_case_of_ranks() {
  Json request = small_case();
  request["case"]["ranks"] = 2;
  request["case"]["techniques"].push_back({{"name", "ddp"}});
  return request;
}

// Its context takes 380 MiB of them.
TEST(DryWorker, RunsOutOfMemoryWhereNcclDoes) {
  setenv("HEADROOM_DRY_RUN_MEMORY", std::to_string(500 << 20).c_str(), 1);
  const Json record = record_of(small_case_of_ranks(), kCuda + ":" + kNvml);
  unsetenv("HEADROOM_DRY_RUN_MEMORY");
  EXPECT_EQ(record.at("status"), "out_of_memory");
  EXPECT_EQ(record.at("reason"), "CUDA out of memory: the device has no room for NCCL's buffers");
}

// It would wait for ranks that never come.
TEST(DryWorker, RefusesAPlanOverGlooAtOnce) {
  Json request = small_case_of_ranks();
  request["case"]["train"]["backend"] = "gloo";
  const Json record = record_of(request, kCuda + ":" + kNvml);
  EXPECT_EQ(record.at("status"), "unsupported");
  EXPECT_NE(record.at("reason").get<std::string>().find("train.backend=nccl"), std::string::npos)
      << record.at("reason");
}

// The sum of two numbers is followed. What is reported of a GPU that fails, runner/device_test.cpp
// tries.
TEST(DryWorker, FindsByAProbeThatItsGpuWorks) {
  const Json record = record_of({{"request", "probe"}, {"gpus", 1}}, kCuda + ":" + kNvml);
  EXPECT_EQ(record.at("status"), "ok") << record.at("reason");
}

TEST(DryWorker, TakesAGpuThatOthersFillForOneThatWorks) {
  setenv("HEADROOM_DRY_RUN_MEMORY", "1000000", 1);
  const Json record = record_of({{"request", "probe"}, {"gpus", 1}}, kCuda + ":" + kNvml);
  unsetenv("HEADROOM_DRY_RUN_MEMORY");
  EXPECT_EQ(record.at("status"), "ok") << record.at("reason");
}

}  // namespace
}  // namespace headroom
