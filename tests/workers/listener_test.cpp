// SPDX-License-Identifier: Apache-2.0
// Who comes to the runner's port: agents, wrong ones, and other programs.
#include "src/workers/agents.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "src/core/error.h"
#include "src/workers/agent.h"
#include "tests/core/messages.h"
#include "tests/support/launch.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

Launch launch_of(int rank, int ranks, int port) {
  return {"torchrun", ranks, rank, rank, ranks, "127.0.0.1", port};
}

/// An agent that comes and hears what it is told; what it threw, or "welcome".
struct Caller {
  Launch launch;
  Hello hello;
  std::string told;
  std::optional<Connection> connection;
  std::thread thread;

  Caller(const Launch& from, const Hello& says) : launch(from), hello(says) {
    thread = std::thread([this] {
      try {
        connection = call_runner(launch, hello, std::chrono::seconds(20));
        told = "welcome";
      } catch (const Unsupported& error) {
        told = error.what();
      }
    });
  }
  ~Caller() {
    if (thread.joinable()) thread.join();
  }
};

class ListenerTest : public testing::Test {
 protected:
  const int port_ = free_port();
  const Launch launch_ = launch_of(0, 3, port_);
  const Hello here_ = hello_of(launch_, "headroom 1", "cafe");
  std::vector<std::string> refusals_;

  Hello hello(int rank) const { return hello_of(launch_of(rank, 3, port_), "headroom 1", "cafe"); }

  std::vector<Agent> accept_all(Listener& listener, std::chrono::seconds timeout) {
    return listener.accept_all(timeout,
                               [this](const std::string& said) { refusals_.push_back(said); });
  }

  FileDescriptor connect() const {
    return connect_to("127.0.0.1", launch_.runner_port(), std::chrono::seconds(20));
  }
};

TEST_F(ListenerTest, gives_agents_by_rank) {
  Listener listener(launch_, here_);
  Caller second(launch_of(2, 3, port_), hello(2));
  Caller first(launch_of(1, 3, port_), hello(1));
  const auto agents = accept_all(listener, std::chrono::seconds(20));
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0].hello, hello(1));
  EXPECT_EQ(agents[1].hello, hello(2));
  EXPECT_TRUE(agents[0].ends.are_one_machine());
  EXPECT_TRUE(refusals_.empty());
  first.thread.join();
  EXPECT_EQ(first.told, "welcome");
}

Hello with_cores(Hello hello, int cores, const std::string& core_set, bool sets_threads = false) {
  hello.cores = cores;
  hello.core_set = core_set;
  hello.sets_threads = sets_threads;
  return hello;
}

TEST_F(ListenerTest, shares_cores_out_among_the_ranks_that_work) {
  const Hello here = with_cores(here_, 12, "0-11");
  Caller first(launch_of(1, 3, port_), with_cores(hello(1), 12, "0-11"));
  Caller second(launch_of(2, 3, port_), with_cores(hello(2), 12, "0-11"));
  const Agents agents(launch_, here, std::chrono::seconds(20), [](const std::string&) {});
  EXPECT_EQ(agents.threads_of(1), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(agents.threads_of(2), (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(agents.threads_of(3), (std::vector<std::int64_t>{4, 4, 4}));
}

TEST_F(ListenerTest, leaves_ranks_their_own_cores_and_what_they_set_themselves) {
  const Hello here = with_cores(here_, 4, "0-3");
  Caller first(launch_of(1, 3, port_), with_cores(hello(1), 4, "4-7"));
  Caller second(launch_of(2, 3, port_), with_cores(hello(2), 4, "8-11", /*sets_threads=*/true));
  const Agents agents(launch_, here, std::chrono::seconds(20), [](const std::string&) {});
  EXPECT_EQ(agents.threads_of(3), (std::vector<std::int64_t>{4, 4, 0}));
}

TEST_F(ListenerTest, refuses_agents_by_name_and_waits_for_the_right_ones) {
  struct Wrong {
    Hello hello;
    std::string why;
  };
  std::vector<Wrong> wrong(6, {hello(1), ""});
  wrong[0].hello.program = "headroom 0.9";
  wrong[0].why = "it is headroom 0.9, rank 0 is headroom 1";
  wrong[1].hello.rank = 3;
  wrong[1].why = "its rank is 3; allowed are 1 to 2";
  wrong[2].hello.rank = 0;
  wrong[2].why = "its rank is 0; allowed are 1 to 2";
  wrong[3].hello.ranks = 4;
  wrong[3].why = "it knows of 4 ranks, rank 0 of 3";
  wrong[4].why = "rank 1 has come already, from " + here_.host;
  wrong[5].hello.worker = "beef";
  wrong[5].why =
      "its headroom-worker is another program, with the hash beef, than that of rank 0, with the "
      "hash cafe";

  Listener listener(launch_, here_);
  std::thread rank0([&] { EXPECT_EQ(accept_all(listener, std::chrono::seconds(20)).size(), 2u); });
  Caller first(launch_of(1, 3, port_), hello(1));
  first.thread.join();
  EXPECT_EQ(first.told, "welcome");
  for (const Wrong& one : wrong) {
    Caller caller(launch_of(1, 3, port_), one.hello);
    caller.thread.join();
    EXPECT_EQ(caller.told, "rank 1 was refused by rank 0: " + one.why);
  }
  Caller second(launch_of(2, 3, port_), hello(2));
  rank0.join();
  ASSERT_EQ(refusals_.size(), wrong.size());
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_EQ(refusals_[i],
              "an agent on " + here_.host + " (127.0.0.1) was refused: " + wrong[i].why);
  }
}

TEST_F(ListenerTest, is_not_kept_from_agents_by_other_connections) {
  Listener listener(launch_, here_);
  std::vector<FileDescriptor> others;
  std::mt19937 random(7);
  std::thread rank0([&] { EXPECT_EQ(accept_all(listener, std::chrono::seconds(20)).size(), 2u); });
  for (int i = 0; i < 300; ++i) {
    others.push_back(connect());
    std::string text(random() % 3000, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    if (i % 3 == 0) text = encode({FrameKind::hello, text});
    if (i % 3 == 1) text.clear();  // says nothing
    send(others.back().get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  const auto start = Clock::now();
  Caller first(launch_of(1, 3, port_), hello(1));
  Caller second(launch_of(2, 3, port_), hello(2));
  rank0.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  EXPECT_TRUE(refusals_.empty());
}

TEST_F(ListenerTest, hears_who_came_before_it_makes_room_for_others) {
  Listener listener(launch_, here_);
  std::vector<FileDescriptor> all;
  for (const int rank : {1, 2}) {
    all.push_back(connect());
    const std::string said = encode({FrameKind::hello, to_text(hello(rank))});
    send(all.back().get(), said.data(), said.size(), MSG_NOSIGNAL);
  }
  for (int i = 0; i < 300; ++i) all.push_back(connect());
  EXPECT_EQ(accept_all(listener, std::chrono::seconds(1)).size(), 2u);
}

/// Comes and goes, again and again, without waiting for anything; no longer than `most`.
void flood(int port, const std::atomic<bool>& is_over, std::chrono::seconds most) {
  const auto until = Clock::now() + most;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  while (!is_over && Clock::now() < until) {
    const FileDescriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const linger none{1, 0};  // else its port stays taken for a minute
    setsockopt(stranger.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
    connect(stranger.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
}

TEST_F(ListenerTest, holds_its_deadline_while_strangers_come_without_end) {
  Listener listener(launch_, here_);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> strangers;
  for (int i = 0; i < 4; ++i) {
    strangers.emplace_back(
        [&] { flood(launch_.runner_port(), is_over, std::chrono::seconds(20)); });
  }
  const auto start = Clock::now();
  EXPECT_THROW(accept_all(listener, std::chrono::seconds(1)), Unsupported);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  is_over = true;
  for (std::thread& stranger : strangers) stranger.join();
}

/// Whether a program could still listen on that port at another address of the loopback.
bool is_free_beside(int port) {
  const FileDescriptor other(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  return bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TEST(Listening, is_on_the_loopback_alone_however_it_is_spelled) {
  for (const char* host : {"127.0.0.1", "127.1", "2130706433", "localhost", "LOCALHOST", "::1",
                           "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1", "0::1"}) {
    const int port = free_port();
    const FileDescriptor listener = listen_on(host, port);
    EXPECT_TRUE(is_free_beside(port)) << host;
    EXPECT_GE(connect_to(host, port, std::chrono::seconds(20)).get(), 0) << host;
  }
  const int port = free_port();
  const FileDescriptor listener = listen_on("0.0.0.0", port);
  EXPECT_FALSE(is_free_beside(port));
}

TEST(Listening, is_for_other_machines_where_they_may_know_this_one_by_another_address) {
  Launch launch = launch_of(0, 2, free_port());
  launch.master_address = "LocalHost";
  Hello here = hello_of(launch, "headroom 1", "cafe");
  here.host = "localhost";
  {
    const Listener all_here(launch, here);
    EXPECT_TRUE(is_free_beside(launch.runner_port()));
  }
  launch.local_ranks = 1;
  const Listener some_elsewhere(launch, here);
  EXPECT_FALSE(is_free_beside(launch.runner_port()));
}

/// An address of this machine that is not the loopback's; empty: it has none.
std::string address_of_this_machine() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(all, freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(*one->ifa_addr);
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    if ((one->ifa_flags & IFF_LOOPBACK) == 0) return text.data();
  }
  return "";
}

TEST(Listening, is_on_the_address_alone_by_which_all_agents_come) {
  Launch launch = launch_of(0, 2, free_port());
  launch.master_address = address_of_this_machine();
  if (launch.master_address.empty()) GTEST_SKIP() << "there is no network";
  const Hello here = hello_of(launch, "headroom 1", "cafe");
  {
    const Listener all_here(launch, here);
    EXPECT_TRUE(is_free_beside(launch.runner_port()));
    EXPECT_GE(
        connect_to(launch.master_address, launch.runner_port(), std::chrono::seconds(20)).get(), 0);
  }
  launch.local_ranks = 1;
  const Listener some_elsewhere(launch, here);
  EXPECT_FALSE(is_free_beside(launch.runner_port()));
}

// As where a gateway has the address, and passes on what comes to it.
TEST(Listening, is_on_all_interfaces_where_the_address_is_none_of_this_machine) {
  Launch launch = launch_of(0, 2, free_port());
  launch.master_address = "203.0.113.7";  // for documents: nobody has it
  const Hello here = hello_of(launch, "headroom 1", "cafe");
  const Listener listener(launch, here);
  EXPECT_FALSE(is_free_beside(launch.runner_port()));
}

TEST_F(ListenerTest, names_who_has_not_come) {
  Listener listener(launch_, here_);
  Caller second(launch_of(2, 3, port_), hello(2));
  EXPECT_EQ(message_of<Unsupported>([&] { accept_all(listener, std::chrono::seconds(1)); }),
            "after 1 s rank 1 of 3 had not come to port " + std::to_string(port_ + 1) +
                " (MASTER_PORT + 1) of this machine, which they know as 127.0.0.1");
  const Launch many = launch_of(0, 20, free_port());
  Listener empty(many, here_);
  EXPECT_NE(message_of<Unsupported>([&] {
              accept_all(empty, std::chrono::seconds(0));
            }).find("ranks 1, 2, 3, 4, 5, 6, 7, 8 and 11 more of 20 had not come"),
            std::string::npos);
}

TEST_F(ListenerTest, names_the_port_that_is_taken) {
  for (const int more : {1, 2}) {
    const FileDescriptor taken = listen_on("127.0.0.1", port_ + more);
    EXPECT_EQ(message_of<Unsupported>([&] { Listener(launch_, here_); }),
              "port " + std::to_string(port_ + more) + " (MASTER_PORT + " + std::to_string(more) +
                  ") can't be listened on: Address already in use; choose another MASTER_PORT "
                  "(torchrun: --master-port), with the two ports behind it free as well");
  }
  Listener(launch_, here_);
  Listener(launch_, here_);  // at once again
}

TEST(Caller, says_that_nobody_answers) {
  const Launch launch = launch_of(1, 2, free_port());
  const std::string where =
      "rank 1 could not reach rank 0 at 127.0.0.1:" + std::to_string(launch.runner_port()) +
      " (MASTER_ADDR, MASTER_PORT + 1) for 1 s: ";
  const Hello hello = hello_of(launch, "headroom 1", "cafe");
  const auto call = [&](const Launch& whom) {
    return message_of<Unsupported>([&] { call_runner(whom, hello, std::chrono::seconds(1)); });
  };
  EXPECT_EQ(call(launch), where + "Connection refused");
  const FileDescriptor silent = listen_on("127.0.0.1", launch.runner_port());
  EXPECT_EQ(call(launch), where + "nothing was said");
  Launch nowhere = launch;
  nowhere.master_address = "no-such-host.invalid";
  EXPECT_NE(call(nowhere).find("for 1 s: "), std::string::npos) << call(nowhere);
}

TEST(Caller, waits_for_a_runner_that_comes_later) {
  const int port = free_port();
  Caller caller(launch_of(1, 2, port), hello_of(launch_of(1, 2, port), "headroom 1", "cafe"));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  const Launch launch = launch_of(0, 2, port);
  const Hello here = hello_of(launch, "headroom 1", "cafe");
  Listener listener(launch, here);
  EXPECT_EQ(listener.accept_all(std::chrono::seconds(20), [](const std::string&) {}).size(), 1u);
  caller.thread.join();
  EXPECT_EQ(caller.told, "welcome");
}

}  // namespace
}  // namespace headroom
