// SPDX-License-Identifier: Apache-2.0
// Faults with the real worker. tests/runner does the same hundreds of times with a small one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/program/program.h"

namespace headroom {
namespace {

const std::string kFaultSuite =
    "suite: faults\n"
    "defaults:\n"
    "  model: {name: vit_ti_16}\n"
    "  data: {name: digits, image_size: 32}\n"
    "  train: {batch_size: 8, steps: 2, warmup_steps: 1}\n"
    "cases:\n"
    "  - name: vanilla\n"
    "  - {name: sgd, techniques: [sgd]}\n"
    "  - {name: checkpointing, techniques: [activation_checkpointing]}\n";

/// What two runs of the same work must agree on.
std::vector<std::string> lasting(const std::filesystem::path& folder) {
  std::vector<std::string> texts;
  for (const Cells& row : read_csv_rows(folder)) {
    std::string text;
    for (const char* column : {"case", "status", "reason", "run_peak_allocated_bytes",
                               "peak_activations_bytes", "flops_per_step", "parameters"}) {
      text += row.text(column) + "|";
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(Faults, AKilledRunGoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kFaultSuite);
  ASSERT_EQ(run_headroom({"run", suite, "--out", folder / "whole"}).code, 0);
  const auto whole = lasting(folder / "whole");
  ASSERT_EQ(whole.size(), 3u);
  for (int kill_after_ms : {200, 700, 1300, 2100, 3400}) {
    const std::string out = folder / ("cut_" + std::to_string(kill_after_ms));
    Program program = start_headroom({"run", suite, "--out", out});
    std::this_thread::sleep_for(std::chrono::milliseconds(kill_after_ms));
    program.send(SIGKILL);
    program.wait();
    const Ended ended = run_headroom({"run", suite, "--out", out, "--resume"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lasting(out), whole) << "killed after " << kill_after_ms << " ms";
  }
}

TEST(Faults, MemoryThatEndsIsARowAndTheRestRuns) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", kFaultSuite +
                                     "  - {name: small, limits: {memory_bytes: 50000000}}\n"
                                     "  - {name: after, techniques: [bfloat16]}\n");
  const Ended ended = run_headroom({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto rows = read_csv_rows(folder / "out");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[3].text("status"), "out_of_memory");
  EXPECT_FALSE(rows[3].text("reason").empty());
  EXPECT_EQ(rows[4].text("status"), "ok") << rows[4].text("reason");
}

// Whoever asks first fails: LibTorch's allocator, or another, which throws std::bad_alloc.
TEST(Faults, MemoryThatEndsAtOnceIsOutOfMemoryToo) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kFaultSuite);
  const Ended ended = run_headroom({"run", suite, "--device", "cpu", "--only", "^vanilla$", "--set",
                                    "limits.memory_bytes=1", "--out", folder / "out"});
  EXPECT_EQ(ended.code, 4) << ended.err;  // nothing was measured
  const auto rows = read_csv_rows(folder / "out");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text("status"), "out_of_memory");
  // Which allocator asks first, and so what is said, differs between machines.
}

TEST(Faults, CtrlCKeepsWhatIsDone) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kFaultSuite);
  Program program = start_headroom({"run", suite, "--out", folder / "out"});
  const auto begin = std::chrono::steady_clock::now();
  while (!std::filesystem::exists(folder / "out/journal.jsonl") &&  // before, there is nothing
         std::chrono::steady_clock::now() - begin < std::chrono::minutes(1)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  program.send(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_NE(ended.err.find("--resume"), std::string::npos) << ended.err;
  EXPECT_EQ(run_headroom({"run", suite, "--out", folder / "out", "--resume"}).code, 0);
  EXPECT_EQ(read_csv_rows(folder / "out").size(), 3u);
}

// Else the first file that the worker opens is its standard input, and the next its output.
TEST(Faults, AWorkerThatIsCalledByHandNeedsNoStandardDescriptors) {
  const Ended ended = Program("headroom-worker", {"--catalog"}, [] {
                        for (const int descriptor : {0, 1, 2}) close(descriptor);
                      }).wait();
  EXPECT_EQ(ended.code, 0);
}

}  // namespace
}  // namespace headroom
