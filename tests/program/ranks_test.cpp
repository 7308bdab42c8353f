// SPDX-License-Identifier: Apache-2.0
// Ranks with the real worker. tests/runner kills many more of a small one's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/program/program.h"
#include "tests/support/listening.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

const std::string kRanksSuite =
    "suite: ranks\n"
    "defaults:\n"
    "  ranks: 2\n"
    "  model: {name: vit_ti_16}\n"
    "  data: {name: digits, image_size: 32}\n"
    "  train: {batch_size: 4, steps: 2, warmup_steps: 1, held_out_samples: 8}\n"
    "cases:\n"
    "  - {name: ddp, techniques: [ddp]}\n"
    "  - {name: fsdp, techniques: [fsdp]}\n"
    "  - {name: alone, techniques: [sgd]}\n";

TEST(Ranks, AreOneRowACase) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kRanksSuite);
  const Ended ended = run_headroom({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 0) << ended.err;  // what is unsupported did not fail
  const auto rows = read_csv_rows(folder / "out");
  ASSERT_EQ(rows.size(), 3u);
  for (const Cells& row : {rows[0], rows[1]}) {
    EXPECT_EQ(row.text("status"), "ok") << row.text("reason");
    EXPECT_EQ(row.number("ranks"), 2);
    EXPECT_EQ(row.number("run_peak_allocated_bytes"), row.parts_of_the_peak());
    EXPECT_GT(row.number("collective_bytes_per_step"), 0);
  }
  EXPECT_EQ(rows[0].text("first_loss"), rows[1].text("first_loss"));
  EXPECT_EQ(rows[0].text("held_out_accuracy"), rows[1].text("held_out_accuracy"));
  EXPECT_GT(rows[0].number("peak_weights_bytes"), rows[1].number("peak_weights_bytes"));
  EXPECT_EQ(rows[2].text("status"), "unsupported");
  EXPECT_NE(rows[2].text("reason").find("ddp"), std::string::npos) << rows[2].text("reason");
}

/// A worker whose rank 1 has larger images than the others, and so more positions.
std::string worker_of_another_shape(const TemporaryFolder& folder) {
  const std::string path =
      folder.write("worker",
                   "#!/bin/sh\n"
                   "sed -u '/\"rank\":1,/s/\"image_size\":32/\"image_size\":48/' | "
                   "exec " HEADROOM_BUILD_DIR "/headroom-worker \"$@\"\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Ranks, ThatDisagreeOnAShapeEndAsARowAndTheSuiteGoesOn) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kRanksSuite);
  const std::string worker = worker_of_another_shape(folder);
  Program program("headroom",
                  {"run", suite, "--set", "limits.silence_s=20", "--out", folder / "out"},
                  [&] { setenv("HEADROOM_WORKER", worker.c_str(), 1); });
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 1) << ended.err;
  const auto rows = read_csv_rows(folder / "out");
  ASSERT_EQ(rows.size(), 3u);
  for (const Cells& row : {rows[0], rows[1]}) {
    // gloo itself ends a process to which more comes than it has room for.
    EXPECT_TRUE(row.text("status") == "crashed" || row.text("status") == "failed");
    EXPECT_EQ(row.text("reason").find("rank "), 0u) << row.text("reason");
  }
}

/// The workers of a run of two ranks, once both have started.
std::vector<pid_t> workers_of(const Program& program) {
  std::vector<pid_t> workers;
  const auto begin = Clock::now();
  while (workers.size() < 2 && Clock::now() - begin < std::chrono::seconds(30)) {
    workers = program.workers();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return workers;
}

TEST(Ranks, OneThatNeverJoinsEndsTheCaseAndIsNamed) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kRanksSuite);
  Program program = start_headroom({"run", suite, "--device", "cpu", "--only", "^fsdp$", "--set",
                                    "limits.silence_s=5", "--out", folder / "out"});
  const auto workers = workers_of(program);
  ASSERT_EQ(workers.size(), 2u);
  kill(workers[1], SIGSTOP);  // long before it has loaded LibTorch
  EXPECT_EQ(program.wait().code, 1);
  const auto rows = read_csv_rows(folder / "out");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text("status"), "timeout");
  EXPECT_EQ(rows[0].text("reason").find("rank 1 of 2"), 0u) << rows[0].text("reason");
  // The other one waited for it where ranks meet.
  EXPECT_NE(read_text(folder / "out/journal.jsonl").find("in phase build"), std::string::npos);
}

TEST(Ranks, ListenOnTheLoopbackAlone) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kRanksSuite);
  Program program = start_headroom({"run", suite, "--device", "cpu", "--only", "^ddp$", "--set",
                                    "train.steps=10000", "--out", folder / "out"});
  for (const pid_t worker : workers_of(program)) {
    const auto begin = Clock::now();
    std::vector<Listening> sockets;
    while (sockets.empty() && Clock::now() - begin < std::chrono::seconds(30)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      sockets = listening_sockets(worker);
    }
    EXPECT_FALSE(sockets.empty());  // gloo's
    for (const Listening& one : sockets) EXPECT_TRUE(one.is_on_loopback()) << one.address;
  }
  EXPECT_TRUE(listening_sockets(program.pid()).empty());
  program.send(SIGKILL);
  program.wait();
}

TEST(Ranks, AKilledOneEndsTheCaseAndIsNamed) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kRanksSuite);
  for (const std::size_t killed : {0, 1, 0, 1}) {
    const std::string out = folder / "out";
    Program program = start_headroom(
        {"run", suite, "--only", "^fsdp$", "--set", "train.steps=10000", "--out", out});
    const auto workers = workers_of(program);
    ASSERT_EQ(workers.size(), 2u);
    std::this_thread::sleep_for(std::chrono::milliseconds(500 + 900 * killed));
    const auto when = Clock::now();
    kill(workers[killed], SIGKILL);
    EXPECT_EQ(program.wait().code, 1);
    EXPECT_LT(Clock::now() - when, std::chrono::seconds(5));
    const auto rows = read_csv_rows(out);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].text("status"), "crashed");
    EXPECT_EQ(rows[0].text("reason").find("rank " + std::to_string(killed) + " of 2"), 0u)
        << rows[0].text("reason");
    std::filesystem::remove_all(out);
  }
}

}  // namespace
}  // namespace headroom
