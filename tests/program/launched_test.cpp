// SPDX-License-Identifier: Apache-2.0
// Ranks that a launcher starts, with the real worker: one training as of ranks that headroom
// starts. tests/runner does to them what can go wrong.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "tests/program/program.h"
#include "tests/support/launch.h"
#include "tests/support/listening.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
using Programs = std::vector<std::unique_ptr<Program>>;

const std::string kLaunchedSuite =
    "suite: launched\n"
    "defaults:\n"
    "  ranks: 2\n"
    "  model: {name: vit_ti_16}\n"
    "  data: {name: digits, image_size: 32}\n"
    "  train: {batch_size: 4, steps: 2, warmup_steps: 1, held_out_samples: 8}\n"
    "cases:\n"
    "  - {name: fsdp, techniques: [fsdp]}\n"
    "  - {name: alone, ranks: 1}\n"
    "  - {name: zero_2, techniques: [zero_2]}\n";

class Launched : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string suite_ = folder_.write("suite.yaml", kLaunchedSuite);
  const std::string out_ = folder_ / "launched";
  const int port_ = free_port();

  std::vector<std::string> run_arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", suite_, "--out", out_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// Both ranks, as that launcher starts them.
  Programs start_ranks(const std::string& launcher, const std::vector<std::string>& more = {}) {
    Programs programs;
    for (const int rank : {0, 1}) {
      programs.emplace_back(new Program("headroom", run_arguments(more),
                                        [&] { become_rank(launcher, rank, 2, port_); }));
    }
    return programs;
  }

  /// An agent of torchrun, which starts so many ranks.
  std::unique_ptr<Program> start_agent(int ranks, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"-m",
                                          "torch.distributed.run",
                                          "--no-python",
                                          "--nproc-per-node",
                                          std::to_string(ranks),
                                          "--master-addr",
                                          "127.0.0.1",
                                          "--master-port",
                                          std::to_string(port_)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(HEADROOM_BUILD_DIR "/headroom");
    for (const std::string& argument : run_arguments()) arguments.push_back(argument);
    return std::unique_ptr<Program>(new Program(source(".deps/python/bin/python3"), arguments));
  }

  static bool has_torchrun() {
    return access(source(".deps/python/bin/python3").c_str(), X_OK) == 0;
  }

  /// The rows of ranks that headroom starts itself.
  static const std::vector<Cells>& rows_without_a_launcher() {
    static const std::vector<Cells> rows = [] {
      const TemporaryFolder folder;
      const std::string suite = folder.write("suite.yaml", kLaunchedSuite);
      EXPECT_EQ(run_headroom({"run", suite, "--out", folder / "out"}).code, 0);
      return read_csv_rows(folder / "out");
    }();
    return rows;
  }

  void expect_rows_of_one_training() const {
    const auto& expected = rows_without_a_launcher();
    const auto rows = read_csv_rows(out_);
    ASSERT_EQ(rows.size(), 3u);
    ASSERT_EQ(expected.size(), 3u);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].text("status"), "ok") << rows[i].text("reason");
      for (const char* column :
           {"case", "ranks", "first_loss", "last_loss", "first_gradient_norm", "held_out_accuracy",
            "run_peak_allocated_bytes", "collective_bytes_per_step"}) {
        EXPECT_EQ(rows[i].text(column), expected[i].text(column)) << column;
      }
      EXPECT_NE(rows[i].text("last_loss"), "");
    }
  }

  void expect_all_well(const Programs& programs) {
    for (const auto& program : programs) {
      const Ended ended = program->wait();
      EXPECT_EQ(ended.code, 0) << ended.err;
    }
    expect_rows_of_one_training();
  }
};

TEST_F(Launched, ByTorchrunTrainAsWithoutIt) {
  if (!has_torchrun()) GTEST_SKIP() << "torchrun is that of .deps, which is not there";
  Programs agents;
  agents.push_back(start_agent(2, {}));
  expect_all_well(agents);
}

TEST_F(Launched, ByTwoAgentsOfTorchrunTrainAsWithoutThem) {
  if (!has_torchrun()) GTEST_SKIP() << "torchrun is that of .deps, which is not there";
  Programs agents;
  for (const char* rank : {"0", "1"}) {
    agents.push_back(start_agent(1, {"--nnodes", "2", "--node-rank", rank}));
  }
  expect_all_well(agents);
}

TEST_F(Launched, BySrunTrainAsWithoutIt) { expect_all_well(start_ranks("srun")); }

TEST_F(Launched, ByMpirunTrainAsWithoutIt) { expect_all_well(start_ranks("mpirun")); }

TEST_F(Launched, OnTwoMachinesTrainAsOnOne) {
  std::vector<std::string> arguments = {"--net", source("tests/program/two_networks.sh"),
                                        HEADROOM_BUILD_DIR "/headroom"};
  for (const std::string& argument : run_arguments()) arguments.push_back(argument);
  const Ended ended = Program("/usr/bin/unshare", arguments).wait();
  if (ended.code == 77 || ended.err.find("unshare") == 0) {
    GTEST_SKIP() << "no second network can be made here: " << ended.err;
  }
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_rows_of_one_training();
}

TEST_F(Launched, MeetOnTheLoopbackAlone) {
  Programs programs = start_ranks(
      "torchrun", {"--device", "cpu", "--only", "^fsdp$", "--set", "train.steps=10000"});
  const auto end = Clock::now() + std::chrono::seconds(60);
  // Of the worker of rank 0: the store's, and then gloo's.
  std::vector<Listening> sockets;
  while (sockets.size() < 2 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto workers = programs[0]->workers();
    if (!workers.empty()) sockets = listening_sockets(workers[0]);
  }
  EXPECT_GE(sockets.size(), 2u);
  for (const Listening& one : sockets) {
    EXPECT_TRUE(one.is_on_loopback()) << one.address << " port " << one.port;
  }
  for (const auto& program : programs) program->send(SIGKILL);
}

TEST_F(Launched, NameTheOneThatIsKilled) {
  for (const std::size_t killed : {1, 0}) {
    // Without --device rank 0 has another worker before, which looks for a GPU.
    Programs programs = start_ranks(
        "torchrun", {"--device", "cpu", "--only", "^fsdp$", "--set", "train.steps=10000"});
    std::vector<pid_t> workers;
    const auto begin = Clock::now();
    while (workers.empty() && Clock::now() - begin < std::chrono::seconds(30)) {
      workers = programs[killed]->workers();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_EQ(workers.size(), 1u);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const auto when = Clock::now();
    kill(workers[0], SIGKILL);
    EXPECT_EQ(programs[0]->wait().code, 1);
    EXPECT_LT(Clock::now() - when, std::chrono::seconds(5));
    EXPECT_EQ(programs[1]->wait().code, 0);
    const auto rows = read_csv_rows(out_);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].text("status"), "crashed");
    EXPECT_EQ(rows[0].text("reason").find("rank " + std::to_string(killed) + " of 2"), 0u)
        << rows[0].text("reason");
    std::filesystem::remove_all(out_);
  }
}

TEST_F(Launched, AreRefusedWhereTheirEnvironmentIsGarbage) {
  Program garbage("headroom", run_arguments(), [&] {
    become_rank("torchrun", 1, 2, port_);
    setenv("RANK", "x", 1);
  });
  const Ended wrong = garbage.wait();
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("RANK"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace headroom
