// SPDX-License-Identifier: Apache-2.0
#include "src/workers/worker_call.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <future>

#include "src/workers/agents.h"
#include "src/workers/conversation.h"

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

TEST(Conversation, gives_the_worker_back_what_the_runner_lost_by_a_pause) {
  SilentAgent silent;
  WorkerRequest request;
  request.agent = &silent.agent;
  request.body = {{"request", "measure"}};
  request.total = 10s;
  request.silence = 1000s;
  const auto start = Conversation::Clock::now();
  Conversation conversation(request, start, [](const WorkerProgress&) {});
  EXPECT_EQ(conversation.next_deadline(), start + 10s);
  conversation.excuse(5s, start + 5s);
  EXPECT_EQ(conversation.next_deadline(), start + 15s);
  conversation.end_where_due(start + 14s, 0);
  EXPECT_FALSE(conversation.timed_out());
  conversation.end_where_due(start + 15s, 0);
  EXPECT_TRUE(conversation.timed_out());
}

}  // namespace
}  // namespace headroom
