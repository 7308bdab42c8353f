// SPDX-License-Identifier: Apache-2.0
// `headroom fit`: what it finds fits, and one sample more does not, by plans of the file it wrote.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kSmall = {
    "--set", "data.sequence_length=256", "--set", "train.steps=2", "--set", "train.warmup_steps=1"};

Ended fit(const std::string& memory, const std::string& out, int batch_size,
          const std::string& ranks) {
  std::vector<std::string> arguments = {"fit",
                                        "bert_mini",
                                        "--gpu-memory",
                                        memory,
                                        "--out",
                                        out,
                                        "--ranks",
                                        ranks,
                                        "--json",
                                        "--set",
                                        "train.batch_size=" + std::to_string(batch_size)};
  arguments.insert(arguments.end(), kSmall.begin(), kSmall.end());
  return run_headroom(arguments);
}

/// The row of the file's case, planned with micro-batches of `samples`.
Cells plan(const std::string& file, const std::string& memory, std::int64_t batch_size) {
  const TemporaryFolder folder;
  const Ended ended = run_headroom({"plan", file, "--gpu-memory", memory, "--out", folder / "out",
                                    "--set", "train.batch_size=" + std::to_string(batch_size)});
  EXPECT_EQ(ended.code, 0) << ended.err;
  return read_csv_rows(folder / "out").at(0);
}

TEST(Fit, AnswersWithASuiteThatFitsAndCouldTakeNoMore) {
  const TemporaryFolder folder;
  for (const std::string memory : {"2GiB", "1104MiB"}) {
    SCOPED_TRACE(memory);
    const std::string file = folder / "fit.yaml";
    const Ended ended = fit(memory, file, 12, "1");
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json report = Json::parse(ended.out);
    const Json& answer = report.at("answer");
    const bool is_plain = answer.at("stack") == "plain" && answer.at("micro_batches") == 1;
    EXPECT_EQ(is_plain, memory == "2GiB") << answer;
    EXPECT_LE(answer.at("driver_peak_bytes"), report.at("memory_bytes"));
    EXPECT_EQ(answer.at("batch_size"), 12);

    const Cells written = plan(file, memory, 12);
    EXPECT_EQ(written.text("status"), "ok") << written.text("reason");
    EXPECT_EQ(written.number("driver_peak_bytes"), answer.at("driver_peak_bytes"));
    const auto micro_batches = answer.at("micro_batches").get<std::int64_t>();
    const auto largest = answer.at("largest_micro_batch").get<std::int64_t>();
    EXPECT_EQ(plan(file, memory, micro_batches * largest).text("status"), "ok");
    EXPECT_EQ(plan(file, memory, micro_batches * (largest + 1)).text("status"), "out_of_memory");
    EXPECT_EQ(answer.at("one_more").at("status"), "out_of_memory");
  }
}

TEST(Fit, SaysWhatMicroBatchesAreToAModelThatNormalisesThem) {
  const TemporaryFolder folder;
  for (const std::string size : {"256", "16"}) {
    const Ended ended = run_headroom({"fit", "resnet_mini", "--gpu", "t4", "--gpu-memory", "280MiB",
                                      "--out", folder / "fit.yaml", "--set", "data.image_size=64",
                                      "--set", "train.batch_size=" + size});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const bool is_cut = ended.out.find("micro-batches\n") != std::string::npos;
    EXPECT_EQ(is_cut, size == "256") << ended.out;
    EXPECT_EQ(ended.out.find("normalises each micro-batch") != std::string::npos, is_cut);
  }
}

TEST(Fit, SharesACaseAmongRanksWhereOneCantHoldIt) {
  const TemporaryFolder folder;
  // The context takes 750 of them and NCCL 626; weights, gradients and state of one rank 172.
  const std::string file = folder / "fit.yaml";
  const Ended ended = fit("1650MiB", file, 4, "4");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json report = Json::parse(ended.out);
  EXPECT_EQ(report.at("ranks"), 4);
  const auto stack = report.at("answer").at("stack").get<std::string>();
  EXPECT_NE(stack, "on_device_init+fused+ddp");
  // Its gradients are on each rank once, so that a smaller micro-batch might have helped.
  EXPECT_NE(ended.err.find("on_device_init+fused+ddp, batch 2 in 2"), std::string::npos);
  const Cells written = plan(file, "1650MiB", 4);
  EXPECT_EQ(written.text("status"), "ok") << written.text("reason");
  EXPECT_EQ(written.text("ranks"), "4");
  // In so little memory the allocator has given some back at the end.
  const std::int64_t peak = written.number("context_bytes") + written.number("nccl_bytes") +
                            written.number("run_peak_reserved_bytes");
  EXPECT_EQ(peak, report.at("answer").at("driver_peak_bytes"));
  EXPECT_GT(peak, written.number("driver_peak_bytes"));
  for (const Json& trial : report.at("trials")) {
    if (trial.at("stack") != "on_device_init+fused+ddp") continue;
    EXPECT_EQ(trial.at("status"), "out_of_memory");
  }
}

TEST(Fit, SaysByHowMuchTheNearestMisses) {
  const TemporaryFolder folder;
  // The context takes 750, weights and gradients 43 each in 32 bits.
  const Ended ended = fit("814MiB", folder / "fit.yaml", 12, "1");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("nothing fits. The nearest is "), std::string::npos) << ended.err;
  // Only in 16 bits might a smaller micro-batch have helped.
  EXPECT_NE(ended.err.find("+optimizer_offload, batch 2 in 2"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(" optimizer_offload, batch 2 in 2"), std::string::npos) << ended.err;
  const Json report = Json::parse(ended.out);
  EXPECT_TRUE(report.at("answer").is_null());
  EXPECT_GT(report.at("missing_bytes"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "fit.yaml"));
}

TEST(Fit, RefusesWhatIsNeitherASuiteNorAModel) {
  const Ended ended = run_headroom({"fit", "bert_tiny"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("did you mean 'bert_mini'"), std::string::npos) << ended.err;
}

TEST(Fit, SaysOnceWhatIsWrongWhateverTheData) {
  const Ended ended = run_headroom({"fit", "bert_mini", "--ranks", "0"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "headroom: fit bert_mini: --set ranks=0: ranks is '0'; allowed: an integer from 1 to "
            "65536\n");
}

}  // namespace
}  // namespace headroom
