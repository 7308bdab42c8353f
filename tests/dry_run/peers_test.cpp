// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/peers.h"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/support/on_threads.h"
#include "tests/support/temporary_folder.h"

namespace headroom::dry_run {
namespace {

using Message = Peers::Message;

TEST(PeersTest, GetWhatEachOfThemPostedInItsOrder) {
  const TemporaryFolder folder;
  on_threads([&](int rank, std::mt19937& random) {
    Peers peers(folder / "x", kThreads, rank, Peers::Others::live);
    for (unsigned char turn = 0; turn < 100; ++turn) {
      // Of any length, so that none is read from another's place.
      peers.post(Message(random() % 5, turn));
      const auto all = peers.gather();
      ASSERT_EQ(all.size(), static_cast<std::size_t>(kThreads));
      for (const Message& message : all) EXPECT_EQ(message, Message(message.size(), turn));
    }
    EXPECT_EQ(peers.posts(), 100);
  });
}

TEST(PeersTest, WaitForTheLast) {
  const TemporaryFolder folder;
  Peers early(folder / "x", 2, 0, Peers::Others::live);
  Peers late(folder / "x", 2, 1, Peers::Others::live);
  std::atomic<bool> is_there = false;
  std::jthread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_there = true;
    late.post({2});
  });
  early.post({1});
  EXPECT_EQ(early.gather(), (std::vector<Message>{{1}, {2}}));
  EXPECT_TRUE(is_there);
}

TEST(PeersTest, OfRanksThatRanBeforeHaveWhatTheyTold) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  {
    Peers first(path, 3, 0, Peers::Others::earlier);
    first.send(1, {7});
    EXPECT_EQ(first.receive(1), Message{}) << "it has not run yet";
    for (const unsigned char number : {1, 2}) {
      first.post({number});
      EXPECT_EQ(first.gather(), std::vector<Message>(3, Message{number}));
    }
  }
  Peers second(path, 3, 1, Peers::Others::earlier);
  EXPECT_EQ(second.receive(0), (Message{7}));
  EXPECT_EQ(second.receive(0), Message{});
  second.send(0, {8});
  for (const unsigned char number : {1, 2, 3}) {
    second.post({9});
    const Message of_first = number < 3 ? Message{number} : Message{9};
    EXPECT_EQ(second.gather(), (std::vector<Message>{of_first, {9}, {9}}));
  }
  Peers again(path, 3, 0, Peers::Others::earlier);
  EXPECT_EQ(again.receive(1), (Message{8}));
  again.post({5});
  EXPECT_EQ(again.gather(), (std::vector<Message>{{5}, {9}, {5}}));
  EXPECT_EQ(Peers(path, 3, 2, Peers::Others::earlier).receive(0), Message{});
}

TEST(PeersTest, MayTellOneAnotherBeforeItAsks) {
  const TemporaryFolder folder;
  Peers one(folder / "x", 2, 0, Peers::Others::live);
  Peers other(folder / "x", 2, 1, Peers::Others::live);
  one.send(1, {1, 2});
  one.send(1, {});
  one.send(1, {3});
  other.send(0, {9});
  other.post({});  // is no message to one
  EXPECT_EQ(other.receive(0), (Message{1, 2}));
  EXPECT_EQ(other.receive(0), Message{});
  EXPECT_EQ(other.receive(0), (Message{3}));
  EXPECT_EQ(one.receive(1), (Message{9}));
}

TEST(PeersTest, AreOfOneCommunicator) {
  const TemporaryFolder folder;
  Peers one(folder / "x", 2, 0, Peers::Others::live);
  Peers other(folder / "y", 2, 0, Peers::Others::live);
  Peers second(folder / "x", 2, 1, Peers::Others::live);
  one.post({1});
  other.post({2});
  second.post({3});
  EXPECT_EQ(second.gather(), (std::vector<Message>{{1}, {3}}));
}

TEST(PeersTest, StopWaitingWhereTheyAreAborted) {
  const TemporaryFolder folder;
  Peers peers(folder / "x", 2, 0, Peers::Others::live);
  std::jthread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    peers.abort();
  });
  peers.post({1});
  EXPECT_EQ(peers.gather().back(), Message{});
}

TEST(PeersDeathTest, AbortWhereARankEndedThatTheyWaitFor) {
  const TemporaryFolder folder;
  // It tells what it has to, once, and is not waited for by its parent, as a failed rank may be.
  if (const pid_t child = fork(); child == 0) {
    Peers(folder / "x", 2, 1, Peers::Others::live).post({2});
    _exit(0);
  }
  Peers peers(folder / "x", 2, 0, Peers::Others::live);
  peers.post({1});
  EXPECT_EQ(peers.gather(), (std::vector<Message>{{1}, {2}}));
  peers.post({1});
  const auto gather = [&] {
    alarm(20);  // without end, where it waits
    peers.gather();
  };
  EXPECT_EXIT(gather(), testing::KilledBySignal(SIGABRT),
              "rank 0 of 2 ends, as it waits for rank 1, which has ended");
}

}  // namespace
}  // namespace headroom::dry_run
