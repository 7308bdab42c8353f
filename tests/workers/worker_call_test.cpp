// SPDX-License-Identifier: Apache-2.0
#include "src/workers/worker_call.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <future>

#include "src/workers/agents.h"

namespace headroom {
namespace {

using namespace std::chrono_literals;

/// An agent that never answers, as one that was stopped: no signal ends its worker.
struct SilentAgent {
  FileDescriptor far_end;
  Agent agent;

  SilentAgent() : SilentAgent(make_ends()) {}

 private:
  explicit SilentAgent(std::array<int, 2> ends)
      : far_end(ends[1]), agent{{}, {}, Connection(FileDescriptor(ends[0]), 1024)} {}

  static std::array<int, 2> make_ends() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    return ends;
  }
};

TEST(WorkerCall, waits_no_longer_for_a_worker_that_can_not_be_ended) {
  SilentAgent silent;
  WorkerRequest request;
  request.agent = &silent.agent;
  request.body = {{"request", "measure"}};
  request.silence = 0s;
  request.grace = 100ms;
  request.unkillable = 100ms;
  Interrupts interrupts;
  auto reply = std::async(std::launch::async, [&] {
    return call_worker(request, interrupts, [](const WorkerProgress&) {});
  });
  const bool has_ended = reply.wait_for(10s) == std::future_status::ready;
  EXPECT_TRUE(has_ended);
  if (!has_ended) kill(getpid(), SIGINT);  // so that the test ends
  EXPECT_EQ(reply.get().ending, WorkerReply::Ending::timed_out);
  interrupts.count();  // nobody else is to get it
  EXPECT_EQ(silent.agent.lost, "the connection to  was lost: its worker did not end");
}

}  // namespace
}  // namespace headroom
