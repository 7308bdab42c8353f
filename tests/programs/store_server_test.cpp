// SPDX-License-Identifier: Apache-2.0
#include "src/programs/store_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "src/core/tcp.h"
#include "tests/programs/store_messages.h"

namespace headroom {
namespace {

/// One end of a connection to the server. All happens in one thread, so it is the server that is
/// given time to answer.
class Rank {
 public:
  explicit Rank(StoreServer& server)
      : server_(server),
        socket_(connect_to("127.0.0.1", server.port(), std::chrono::milliseconds(10'000))) {}

  void say(const std::string& bytes) const { write_all(socket_.get(), bytes, "the store"); }

  /// So many bytes; fewer: the server has no more to say, or has gone.
  std::string hear(std::size_t count) const {
    std::string heard;
    for (int tries = 0; heard.size() < count && tries < 20; ++tries) {
      std::vector<pollfd> list = server_.awaited();
      poll(list.data(), list.size(), 5);
      server_.exchange();
      std::array<char, 1024> buffer;
      const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got == 0) break;
      if (got > 0) heard.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return heard;
  }

 private:
  StoreServer& server_;
  FileDescriptor socket_;
};

const auto kLater = StoreServer::Clock::now() + 10 * StoreServer::kPatience;

TEST(StoreServer, answers_each_connection_what_all_of_them_set) {
  StoreServer server;
  const Rank one(server);
  const Rank other(server);
  one.say(validation() + message(StoreVerb::set, text("key") + text("value")) +
          message(StoreVerb::ping, bytes_of(std::uint32_t{7})));
  EXPECT_EQ(one.hear(4), bytes_of(std::uint32_t{7}));
  other.say(validation() + message(StoreVerb::get, text("key")));
  EXPECT_EQ(other.hear(13), text("value"));
}

TEST(StoreServer, wakes_who_waits_for_what_another_sets) {
  StoreServer server;
  const Rank one(server);
  const Rank other(server);
  one.say(validation() + message_of_keys(StoreVerb::wait, {"key"}));
  EXPECT_EQ(one.hear(1), "");
  EXPECT_EQ(server.why_stuck(StoreServer::Clock::now()), "");
  EXPECT_EQ(server.why_stuck(kLater),
            "it waits for 'key' in its store, which no rank that runs sets");
  other.say(validation() + message(StoreVerb::add, text("key") + bytes_of(std::int64_t{1})));
  EXPECT_EQ(other.hear(8), bytes_of(std::int64_t{1}));
  EXPECT_EQ(one.hear(1), std::string(1, '\0'));
  EXPECT_EQ(server.why_stuck(kLater), "");
}

TEST(StoreServer, lets_go_who_gives_up_waiting) {
  StoreServer server;
  const Rank rank(server);
  rank.say(validation() + message_of_keys(StoreVerb::wait, {"key"}));
  EXPECT_EQ(rank.hear(1), "");
  rank.say(message(StoreVerb::cancel_wait));
  EXPECT_EQ(rank.hear(1), "\1");
  EXPECT_EQ(server.why_stuck(kLater), "");
}

TEST(StoreServer, forgets_who_has_gone) {
  StoreServer server;
  {
    const Rank rank(server);
    rank.say(validation() + message_of_keys(StoreVerb::wait, {"key"}));
    EXPECT_EQ(rank.hear(1), "");
  }
  server.exchange();
  EXPECT_EQ(server.why_stuck(kLater), "");
  EXPECT_EQ(server.awaited().size(), 1U);
}

TEST(StoreServer, names_what_it_is_asked_and_does_not_know) {
  StoreServer server;
  const Rank stranger(server);
  stranger.say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(stranger.hear(1), "");
  EXPECT_EQ(server.why_stuck(kLater), "") << "it is none of the program's";
  const Rank rank(server);
  rank.say(validation() + '\x0e');
  EXPECT_EQ(rank.hear(1), "");
  EXPECT_EQ(server.why_stuck(StoreServer::Clock::now()),
            "its store can't answer: request 14 is not known");
}

}  // namespace
}  // namespace headroom
