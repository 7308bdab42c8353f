// SPDX-License-Identifier: Apache-2.0
// Both ends of the connection between a runner and an agent, each against a wrong other end.
#include "src/workers/agent.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "src/core/error.h"
#include "src/core/tcp.h"
#include "src/workers/agents.h"
#include "src/workers/worker.h"
#include "tests/core/messages.h"
#include "tests/support/launch.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const Launch kSecondOfTwo{"torchrun", 2, 1, 1, 2, "127.0.0.1", 29500};
constexpr std::size_t kMaxBytes = 1024 * 1024;

/// Two ends of one connection.
std::array<FileDescriptor, 2> make_ends() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// What an agent answers to a runner that says `frames`, or these bytes, until it goes away.
struct ServedRunner {
  std::string why;
  std::vector<Frame> answers;

  /// `change`: what happens between the agent's hello and the runner's first frame.
  ServedRunner(const std::vector<Frame>& frames, const std::string& worker,
               const std::string& bytes = "", const std::function<void()>& change = {}) {
    auto [here, there] = make_ends();
    send(here.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    Connection runner(std::move(here), kMaxBytes);
    for (const Frame& frame : frames) runner.send(frame);
    std::thread listener([&] { listen(runner); });
    {
      Interrupts interrupts;
      Connection connection(std::move(there), kMaxBytes);
      ProgramFile program(worker);
      if (change) change();
      why = serve_runner(connection, kSecondOfTwo, program, interrupts);
    }
    listener.join();
  }

  void listen(Connection& runner) {
    while (runner.lost().empty()) {
      pollfd wait = runner.awaited();
      poll(&wait, 1, 5000);
      runner.exchange();
      while (auto frame = runner.next()) {
        answers.push_back(*frame);
        const bool is_last = frame->kind == FrameKind::ended || frame->kind == FrameKind::refused;
        if (is_last) runner.send({FrameKind::over, ""});
      }
    }
  }

  std::string text(FrameKind kind) const {
    std::string all;
    for (const Frame& frame : answers) all += frame.kind == kind ? frame.payload : "";
    return all;
  }
};

Frame order(const Json& request = {{"request", "measure"}}) {
  return {FrameKind::start, to_text({request, ""})};
}

TEST(Agent, starts_its_own_worker_and_says_how_it_ended) {
  const ServedRunner echoes({order()}, "/bin/cat");
  EXPECT_EQ(echoes.why, "");
  EXPECT_EQ(Json::parse(echoes.text(FrameKind::output)).at("rank"), 1);
  EXPECT_EQ(read_worker_end(echoes.text(FrameKind::ended)), WorkerEnd{});
  const ServedRunner fails({order()}, "/bin/false");
  EXPECT_EQ(read_worker_end(fails.text(FrameKind::ended)), (WorkerEnd{{1, 0}}));
}

TEST(Agent, ends_when_all_is_over) {
  const ServedRunner none({{FrameKind::over, ""}}, "/bin/cat");
  EXPECT_EQ(none.why, "");
  EXPECT_TRUE(none.answers.empty());
}

TEST(Agent, says_that_its_worker_can_not_be_started) {
  const TemporaryFolder folder;
  const std::string no_program = folder.write("worker", "#!/no/such/shell\n");
  std::filesystem::permissions(no_program, std::filesystem::perms::owner_all);
  const ServedRunner none({order()}, no_program);
  EXPECT_EQ(none.why, "");
  EXPECT_NE(none.text(FrameKind::output).find(no_program), std::string::npos);
  EXPECT_EQ(read_worker_end(none.text(FrameKind::ended)), (WorkerEnd{{127, 0}}));
}

// A row of two programs would come of it.
TEST(Agent, starts_no_other_worker_than_it_began_with) {
  const TemporaryFolder folder;
  const std::string worker = folder / "worker";
  const std::filesystem::path started = folder.path() / "started";
  const auto write = [&](const std::string& more) {
    folder.write("worker", "#!/bin/sh\ntouch '" + started.string() + "'\n" + more);
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  };
  write("");
  const ServedRunner changed({order()}, worker, "", [&] { write("echo another\n"); });
  EXPECT_EQ(changed.why, "");
  EXPECT_NE(changed.text(FrameKind::refused).find(worker + ": it is not the program any more"),
            std::string::npos);
  EXPECT_EQ(changed.text(FrameKind::ended), "");
  EXPECT_FALSE(std::filesystem::exists(started));
  // One that takes its place just before it starts, and is at work when anybody can look again.
  write("echo '#' >>'" + worker + "'\n");
  const ServedRunner late({order()}, worker);
  EXPECT_TRUE(std::filesystem::exists(started));
  EXPECT_NE(late.text(FrameKind::refused), "");
  EXPECT_EQ(late.text(FrameKind::ended), "");
}

TEST(Agent, does_nothing_else) {
  const std::string asked = "rank 0 asked for what no agent does";
  EXPECT_EQ(ServedRunner({order({{"request", "forward"}, {"output", "/tmp/x"}})}, "/bin/cat").why,
            asked);
  EXPECT_EQ(ServedRunner({{FrameKind::start, "garbage"}}, "/bin/cat").why, asked);
  EXPECT_EQ(ServedRunner({order(), order()}, "/bin/cat").why, asked);  // one at a time
  EXPECT_EQ(ServedRunner({{FrameKind::hello, "{}"}}, "/bin/cat").why, asked);
  for (const char* signal : {"0", "-1", "1", "19", "015", "15 ", "", "x"}) {
    EXPECT_EQ(ServedRunner({{FrameKind::signal, signal}}, "/bin/cat").why, asked) << signal;
  }
  EXPECT_EQ(ServedRunner({}, "/bin/cat", "GET / HTTP/1.1\r\n").why,
            "the connection to rank 0 was lost: what came is not of headroom");
  EXPECT_EQ(ServedRunner({}, "/bin/cat", "s\xff\xff\xff\xff").why,
            "the connection to rank 0 was lost: what came is longer than 1048576 bytes");
}

/// What an agent answers to a runner whose welcome and first order come in one piece.
std::vector<Frame> answers_to_joined_frames(int listener) {
  pollfd wait{listener, POLLIN, 0};
  poll(&wait, 1, 5000);
  Connection agent(accept_at(listener).value(), kMaxBytes);
  const auto hear = [&] {
    for (;;) {
      if (auto frame = agent.next()) return frame;
      pollfd ready = agent.awaited();
      if (!agent.lost().empty() || poll(&ready, 1, 5000) == 0) return std::optional<Frame>();
      agent.exchange();
    }
  };
  hear();  // its hello
  const std::string joined = encode({FrameKind::welcome, ""}) + encode(order());
  send(agent.awaited().fd, joined.data(), joined.size(), MSG_NOSIGNAL);
  std::vector<Frame> answers;
  for (auto frame = hear(); frame; frame = hear()) {
    answers.push_back(*frame);
    if (frame->kind == FrameKind::ended) break;
  }
  agent.send({FrameKind::over, ""});
  return answers;
}

TEST(Agent, does_what_came_in_one_piece_with_its_welcome) {
  Launch launch = kSecondOfTwo;
  launch.master_port = free_port();
  const FileDescriptor listener = listen_on("127.0.0.1", launch.runner_port());
  Interrupts interrupts;
  std::vector<Frame> answers;
  std::thread runner([&] { answers = answers_to_joined_frames(listener.get()); });
  Connection connection =
      call_runner(launch, hello_of(launch, "headroom 1", "cafe"), std::chrono::seconds(20));
  ProgramFile worker("/bin/cat");
  EXPECT_EQ(serve_runner(connection, launch, worker, interrupts), "");
  runner.join();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().kind, FrameKind::ended);
}

TEST(Agent, prints_no_controls_of_whoever_refuses_it) {
  Launch launch = kSecondOfTwo;
  launch.master_port = free_port();
  const FileDescriptor listener = listen_on("127.0.0.1", launch.runner_port());
  std::thread stranger([&] {
    pollfd wait{listener.get(), POLLIN, 0};
    poll(&wait, 1, 5000);
    Connection agent(accept_at(listener.get()).value(), kMaxBytes);
    agent.send({FrameKind::refused, "no\x1b[2J\n"});
    while (agent.lost().empty()) {  // closed with words of the other end unread, it would be reset
      pollfd ready = agent.awaited();
      poll(&ready, 1, 5000);
      agent.exchange();
    }
  });
  EXPECT_EQ(message_of<Unsupported>([&] {
              call_runner(launch, hello_of(launch, "headroom 1", "cafe"), std::chrono::seconds(20));
            }),
            "rank 1 was refused by rank 0: no\\x1b[2J\\x0a");
  stranger.join();
}

/// What becomes of a worker whose agent says that and goes away.
WorkerEnd end_of(const std::string& said) {
  auto [here, there] = make_ends();
  send(there.get(), said.data(), said.size(), MSG_NOSIGNAL);
  there.reset();
  Hello hello;
  hello.host = "node";
  Agent agent{hello, {}, Connection(std::move(here), 128 * 1024)};
  RemoteWorker worker(agent, {{"request", "measure"}}, {});
  for (int i = 0; i < 1000 && !worker.try_wait(); ++i) worker.read_messages();
  return worker.try_wait().value_or(WorkerEnd{{-1, -1}});
}

TEST(RemoteWorker, is_lost_where_its_agent_is_or_is_none) {
  const auto lost = [](const std::string& why) {
    return "the connection to node was lost: " + why;
  };
  const std::string ended = encode({FrameKind::ended, to_text(WorkerEnd{{3, 0}})});
  EXPECT_EQ(end_of(ended), (WorkerEnd{{3, 0}}));
  EXPECT_EQ(end_of(encode({FrameKind::output, "text"}) + ended), (WorkerEnd{{3, 0}}));
  EXPECT_EQ(end_of("").lost, lost("it was closed at the other end"));
  EXPECT_EQ(end_of(ended.substr(0, ended.size() - 1)).lost, lost("it was closed at the other end"));
  EXPECT_EQ(end_of("garbage").lost, lost("what came is not of headroom"));
  EXPECT_EQ(end_of(encode({FrameKind::ended, "{}"})).lost, lost("it said what no agent says"));
  EXPECT_EQ(end_of(encode({FrameKind::hello, "{}"})).lost, lost("it said what no agent says"));
  EXPECT_EQ(end_of(encode({FrameKind::over, ""})).lost, lost("it said what no agent says"));
  EXPECT_EQ(end_of(encode({FrameKind::output, std::string(200'000, 'x')})).lost,
            lost("what came is longer than 131072 bytes"));
}

TEST(RemoteWorker, of_an_agent_whose_worker_is_another_program_by_now_ends_the_run) {
  EXPECT_EQ(message_of<ResultsError>([] {
              end_of(encode({FrameKind::refused, "an\x1b other"}));
            }),
            "rank 0 on node: an\\x1b other");
}

TEST(RemoteWorker, survives_whatever_an_agent_says) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string said;
    for (unsigned frames = random() % 5; frames > 0; --frames) {
      std::string payload(random() % 40, '\0');
      for (char& byte : payload) byte = static_cast<char>(random());
      said += encode({static_cast<FrameKind>("hmoewrskq"[random() % 9]), payload});
    }
    if (!said.empty() && random() % 2 == 0) said.resize(random() % said.size());
    try {
      EXPECT_NE(end_of(said).lost, "");
    } catch (const ResultsError&) {
      // The agent refuses, and the run ends.
    }
  }
}

}  // namespace
}  // namespace headroom
