// SPDX-License-Identifier: Apache-2.0
// Several of the whole program, as a launcher starts them, are one run.
#include "src/workers/agents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "tests/runner/program.h"
#include "tests/support/launch.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

/// A suite that is run by several processes.
struct Launched {
  TemporaryFolder folder;
  std::string out = folder / "out";
  int port = free_port();
  std::vector<std::unique_ptr<Program>> programs;  // by rank

  /// `prepare_more`: what each process does before it becomes its rank.
  Launched(
      int processes, const std::string& suite, const std::vector<std::string>& more = {},
      const std::string& launcher = "torchrun",
      const std::function<void(int rank)>& prepare_more = [](int) {}) {
    std::vector<std::string> arguments = {"run", folder.write("suite.yaml", suite), "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (int rank = 0; rank < processes; ++rank) {
      const auto prepare = [&] {
        become_rank(launcher, rank, processes, port);
        prepare_more(rank);
        setenv("TEST_STORE", (folder / "store").c_str(), 1);
      };
      programs.emplace_back(new Program(start_program(arguments, prepare)));
    }
  }

  /// The worker of a rank, once it has one.
  pid_t worker_of(std::size_t rank) const {
    for (const auto start = Clock::now(); Clock::now() - start < std::chrono::seconds(20);) {
      const auto workers = programs[rank]->workers();
      if (!workers.empty()) return workers[0];
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return -1;
  }

  std::vector<Ended> wait() {
    std::vector<Ended> ended;
    for (const auto& program : programs) ended.push_back(program->wait());
    return ended;
  }
};

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

class LaunchedBy : public testing::TestWithParam<std::string> {};

TEST_P(LaunchedBy, are_one_row_a_case_as_without) {
  const std::string cases =
      one_case("a", "together") + one_case("b", "ok") + one_case("c", "together_hang");
  for (const int ranks : {2, 4}) {
    Launched launched(ranks, suite_text(ranks, cases), {}, GetParam());
    const auto ended = launched.wait();
    for (const Ended& one : ended) EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_NE(ended[0].out, "");
    for (std::size_t rank = 1; rank < ended.size(); ++rank) {
      EXPECT_EQ(ended[rank].out + ended[rank].err, "");
    }
    const TemporaryFolder folder;
    const std::string suite = folder.write("suite.yaml", suite_text(ranks, cases));
    run_program({"run", suite, "--out", folder / "out"});
    EXPECT_EQ(lasting_rows(launched.out), lasting_rows(folder / "out"));
    EXPECT_EQ(read_rows(launched.out).at("c").at("status"), "ok");
    for (int rank = 1; rank < ranks; ++rank) {
      const std::string log = "/log/a.rank" + std::to_string(rank) + ".log";
      EXPECT_EQ(read_text(launched.out + log), read_text(folder / ("out" + log)));
      EXPECT_NE(read_text(launched.out + log), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LaunchedBy, testing::Values("torchrun", "srun", "mpirun"),
                         [](const auto& test) { return test.param; });

TEST(Agents, tell_of_their_worker_s_end_as_the_runner_sees_its_own) {
  std::string cases;
  for (const char* fault : {"segv", "exit_3", "killed", "no_record", "wrong_nonce", "two_records",
                            "flood_messages", "broken_json", "spew_messages", "spew_output",
                            "unknown_column", "nan_loss", "out_of_memory", "late_crash"}) {
    cases += one_case(fault, fault + std::string(", on_rank: 1"));
  }
  Launched launched(2, suite_text(2, cases));
  const auto ended = launched.wait();
  EXPECT_EQ(ended[0].code, 1) << ended[0].err;
  EXPECT_EQ(ended[1].code, 0) << ended[1].err;
  const TemporaryFolder folder;
  run_program({"run", folder.write("suite.yaml", suite_text(2, cases)), "--out", folder / "out"});
  const Rows rows = lasting_rows(launched.out);
  const Rows plain = lasting_rows(folder / "out");
  ASSERT_EQ(rows.size(), plain.size());
  for (const auto& [name, row] : plain) EXPECT_EQ(rows.at(name), row) << name;
  EXPECT_EQ(rows.at("killed").at("reason").find("rank 1 of 2: the worker ended by signal 9"), 0u);
  for (const char* log : {"/log/spew_output.rank1.log", "/log/segv.rank1.log"}) {
    EXPECT_EQ(read_text(launched.out + log), read_text(folder / (std::string("out") + log)));
  }
}

TEST(Agents, have_workers_whose_time_the_runner_watches) {
  const std::string cases = one_case("hang", "hang, on_rank: 1, others: together_hang") +
                            one_case("ignores", "hang_ignoring_term, on_rank: 1, others: chatter") +
                            one_case("stop", "stop, on_rank: 1, others: together_hang") +
                            one_case("good", "together");
  const auto start = Clock::now();
  Launched launched(2, suite_text(2, cases, "{silence_s: 1, case_s: 3}"));
  const auto ended = launched.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(15));
  EXPECT_EQ(ended[1].code, 0) << ended[1].err;
  const Rows rows = read_rows(launched.out);
  for (const char* name : {"hang", "ignores", "stop"}) {
    EXPECT_EQ(rows.at(name).at("status"), "timeout");
    EXPECT_EQ(rows.at(name).at("reason").find("rank 1 of 2: no message for 1 s"), 0u)
        << rows.at(name).at("reason");
  }
  EXPECT_EQ(rows.at("good").at("status"), "ok") << rows.at("good").at("reason");
}

TEST(Agents, leave_nothing_behind) {
  Launched launched(2, suite_text(2, one_case("a", "grandchild, on_rank: 1, others: ok") +
                                         one_case("b", "hang")));
  while (read_text(launched.out + "/results.csv").find("\ntest,a,") == std::string::npos &&
         is_alive(launched.programs[0]->pid())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  launched.worker_of(1);
  EXPECT_EQ(launched.programs[1]->workers().size(), 1u);  // that of the case b
  launched.programs[0]->send(SIGINT);
  launched.wait();
}

/// Two ranks whose workers are files of their own, in a folder beside.
struct OwnWorkers {
  TemporaryFolder folder;

  std::string of(int rank) const { return folder / ("worker" + std::to_string(rank)); }

  /// `more`: what it has behind the test worker's own bytes.
  void put(int rank, const std::string& more) const {
    std::filesystem::copy_file(HEADROOM_BUILD_DIR "/test_worker", folder / "built");
    std::ofstream(folder / "built", std::ios::app | std::ios::binary) << more;
    std::filesystem::rename(folder / "built", of(rank));
  }

  Launched launched(const std::string& cases) const {
    return {2, suite_text(2, cases), {}, "torchrun", [this](int rank) {
              setenv("HEADROOM_WORKER", of(rank).c_str(), 1);
            }};
  }
};

TEST(AgentsWorker, that_is_another_program_is_refused) {
  const OwnWorkers workers;
  workers.put(0, "");
  workers.put(1, "another");
  Launched launched = workers.launched(one_case("a", "together"));
  const Ended agent = launched.programs[1]->wait();
  EXPECT_EQ(agent.code, 4);
  EXPECT_NE(agent.err.find("rank 1 was refused by rank 0: its headroom-worker is another program"),
            std::string::npos)
      << agent.err;
  launched.programs[0]->send(SIGKILL);
  launched.programs[0]->wait();
}

TEST(AgentsWorker, that_is_replaced_ends_the_run_and_keeps_what_is_done) {
  const OwnWorkers workers;
  workers.put(0, "");
  workers.put(1, "");
  std::string cases;
  for (const std::string name : {"a", "b", "c"}) {
    cases +=
        "  - {name: " + name + ", model: {name: ok}, train: {work_ms: 500}, techniques: [ddp]}\n";
  }
  Launched launched = workers.launched(cases);
  while (read_text(launched.out + "/log/a.rank1.log").empty() &&
         is_alive(launched.programs[0]->pid())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  workers.put(1, "another");
  const auto ended = launched.wait();
  EXPECT_EQ(ended[0].code, 3);
  EXPECT_NE(ended[0].err.find("headroom: rank 1 on " + host() + ": " + workers.of(1) +
                              ": it is not the program any more"),
            std::string::npos)
      << ended[0].err;
  EXPECT_EQ(ended[1].code, 0) << ended[1].err;
  const Rows rows = read_rows(launched.out);
  EXPECT_EQ(rows.count("c"), 0U);
  for (const auto& [name, row] : rows) EXPECT_EQ(row.at("status"), "ok") << name;
}

TEST(Agents, serve_the_cases_that_need_them) {
  const std::string cases =
      "  - {name: alone, ranks: 1, model: {name: tell_group}}\n"
      "  - {name: two, model: {name: together}, techniques: [ddp]}\n"
      "  - {name: three, ranks: 3, model: {name: together}, techniques: [ddp]}\n"
      "  - {name: four, ranks: 4, model: {name: together}, techniques: [ddp]}\n";
  Launched launched(3, suite_text(2, cases));
  const auto ended = launched.wait();
  EXPECT_EQ(ended[0].code, 0) << ended[0].err;
  const Rows rows = read_rows(launched.out);
  EXPECT_EQ(rows.at("alone").at("reason"), "rank 0 of 1, threads as there are, store none");
  EXPECT_EQ(rows.at("two").at("status"), "ok");
  EXPECT_EQ(rows.at("three").at("status"), "ok");
  EXPECT_EQ(rows.at("four").at("status"), "unsupported");
  EXPECT_EQ(rows.at("four").at("reason"), "4 ranks are more than the 3 that torchrun started");
}

TEST(Agents, print_no_cases) {
  Launched launched(2, suite_text(2, one_case("a", "ok")), {"--list-cases"});
  const auto ended = launched.wait();
  EXPECT_NE(ended[0].out.find("test   a"), std::string::npos) << ended[0].out;
  EXPECT_EQ(ended[1].code, 0);
  EXPECT_EQ(ended[1].out, "");
}

TEST(Agents, end_with_a_runner_that_can_not_begin) {
  Launched launched(2, "suite: test\ncases: nonsense\n");
  const auto start = Clock::now();
  const auto ended = launched.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(ended[0].code, 2) << ended[0].err;
  EXPECT_EQ(ended[1].code, 0) << ended[1].err;
}

TEST(Agents, that_are_lost_end_the_case_and_the_run_which_can_be_resumed) {
  const std::string cases = one_case("a", "together") +
                            one_case("b", "hang, on_rank: 1, others: together_hang") +
                            one_case("c", "together");
  Launched launched(2, suite_text(2, cases));
  while (read_text(launched.out + "/results.csv").find("\ntest,a,") == std::string::npos &&
         is_alive(launched.programs[0]->pid())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const pid_t worker = launched.worker_of(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  launched.programs[1]->send(SIGKILL);
  const auto ended = launched.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(ended[0].code, 1);
  EXPECT_TRUE(ends_soon(worker));
  const std::string lost =
      "the connection to " + host() + " was lost: it was closed at the other end";
  EXPECT_NE(ended[0].err.find("headroom: rank 1: " + lost + "; what is done is kept. To go on: "),
            std::string::npos)
      << ended[0].err;
  Rows rows = read_rows(launched.out);
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("b").at("status"), "failed");
  EXPECT_EQ(rows.at("b").at("reason"), "rank 1 of 2: " + lost + ", in phase warm_up, step 2 of 3");

  run_program({"run", launched.folder / "suite.yaml", "--out", launched.out, "--resume"});
  rows = read_rows(launched.out);
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at("c").at("status"), "ok");
}

/// As torchrun does where one of its processes ends.
TEST(Agents, that_are_lost_are_a_row_also_where_the_launcher_ends_the_rest) {
  Launched launched(2, suite_text(2, one_case("b", "hang")));
  launched.worker_of(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  launched.programs[1]->send(SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  launched.programs[0]->send(SIGTERM);
  EXPECT_EQ(launched.wait()[0].code, 1);
  EXPECT_EQ(read_rows(launched.out).at("b").at("status"), "failed");
}

TEST(Agents, end_with_the_runner) {
  Launched launched(3, suite_text(3, one_case("a", "hang_ignoring_term")));
  std::vector<pid_t> workers;
  for (const std::size_t rank : {0, 1, 2}) workers.push_back(launched.worker_of(rank));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  launched.programs[0]->send(SIGKILL);
  const auto ended = launched.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  for (const std::size_t rank : {1, 2}) {
    EXPECT_EQ(ended[rank].code, 1);
    EXPECT_EQ(ended[rank].err, "headroom: rank " + std::to_string(rank) +
                                   ": the connection to rank 0 was lost: it was closed at the "
                                   "other end\n");
  }
  for (const pid_t worker : workers) EXPECT_TRUE(ends_soon(worker));
}

class AgentsInterrupt : public testing::TestWithParam<int> {};

TEST_P(AgentsInterrupt, ends_all_and_leaves_no_row) {
  for (const bool to_all : {false, true}) {
    Launched launched(2, suite_text(2, one_case("a", "hang")));
    const std::vector<pid_t> workers = {launched.worker_of(0), launched.worker_of(1)};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto start = Clock::now();
    if (to_all) launched.programs[1]->send(GetParam());  // before the runner hears of it
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    launched.programs[0]->send(GetParam());
    const auto ended = launched.wait();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    EXPECT_EQ(ended[0].code, 130) << ended[0].err;
    EXPECT_EQ(ended[1].code, 0) << ended[1].err;
    EXPECT_TRUE(read_rows(launched.out).empty());
    for (const pid_t worker : workers) EXPECT_FALSE(is_alive(worker));
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, AgentsInterrupt, testing::Values(SIGINT, SIGTERM));

TEST(AgentsInterruptTwice, kills_what_does_not_want_to_end) {
  Launched launched(2, suite_text(2, one_case("a", "hang_ignoring_term")));
  const std::vector<pid_t> workers = {launched.worker_of(0), launched.worker_of(1)};
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  for (int i = 0; i < 2; ++i) {
    launched.programs[0]->send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(launched.wait()[0].code, 130);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
  for (const pid_t worker : workers) EXPECT_FALSE(is_alive(worker));
}

}  // namespace
}  // namespace headroom
