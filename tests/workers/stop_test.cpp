// SPDX-License-Identifier: Apache-2.0
// The runner's port and an agent end at any moment, whoever is connecting to them then.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <thread>

#include "src/core/error.h"
#include "src/workers/agent.h"
#include "src/workers/agents.h"
#include "tests/support/launch.h"
#include "tests/support/seeded.h"

namespace headroom {
namespace {

using std::chrono::seconds;

Launch launch_of(int rank, int port) { return {"torchrun", 2, rank, rank, 2, "127.0.0.1", port}; }

/// Connects again and again, says something or nothing, and goes, until it is told to stop.
void come_and_go(int port, int number, const std::atomic<bool>& stop) {
  std::mt19937 random = seeded_random(number);
  while (!stop) {
    try {
      const FileDescriptor socket = connect_to("127.0.0.1", port, seconds(1));
      const std::string said = encode({FrameKind::hello, std::string(random() % 5000, '{')});
      send(socket.get(), said.data(), random() % said.size(), MSG_NOSIGNAL);
      sleep_up_to(random, 500);
    } catch (const std::runtime_error&) {
      std::this_thread::yield();  // nobody listens now
    }
  }
}

/// Strangers at a port, for as long as it lives.
class Strangers {
 public:
  explicit Strangers(int port) {
    for (int number = 1; number <= 3; ++number) {
      threads_.emplace_back([this, port, number] { come_and_go(port, number, stop_); });
    }
  }
  ~Strangers() { stop_ = true; }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;  // last: joined first
};

TEST(ListenerStop, LeavesThePortFreeWhoeverIsConnecting) {
  const int port = free_port();
  const Launch launch = launch_of(0, port);
  const Hello here = hello_of(launch, "headroom 1", "cafe");
  const Strangers strangers(launch.runner_port());
  std::mt19937 random = seeded_random();
  for (int trial = 0; trial < 30; ++trial) {
    Listener listener(launch, here);
    sleep_up_to(random, 2000);
    if (trial % 2 == 0) continue;
    EXPECT_THROW(listener.accept_all(seconds(0), [](const std::string&) {}), Unsupported);
  }
}

TEST(AgentStop, ComesWhenTheRunnerGoesAtAnyMoment) {
  const int port = free_port();
  const Launch runner = launch_of(0, port);
  const Launch agent = launch_of(1, port);
  const Hello here = hello_of(runner, "headroom 1", "cafe");
  const Strangers strangers(runner.runner_port());
  std::mt19937 random = seeded_random();
  for (int trial = 0; trial < 20; ++trial) {
    Interrupts interrupts;
    std::string why = "never ended";
    std::jthread other([&] {
      Connection connection =
          call_runner(agent, hello_of(agent, "headroom 1", "cafe"), seconds(20));
      ProgramFile worker("/bin/false");
      why = serve_runner(connection, agent, worker, interrupts);
    });
    std::optional<Agents> agents(std::in_place, runner, here, seconds(20),
                                 [](const std::string&) {});
    if (trial % 2 == 0) agents->of(1).connection.send({FrameKind::message, "no agent does that"});
    sleep_up_to(random, 2000);
    agents.reset();
    other.join();
    EXPECT_EQ(why, trial % 2 == 0 ? "rank 0 asked for what no agent does" : "");
  }
}

}  // namespace
}  // namespace headroom
