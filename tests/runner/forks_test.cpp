// SPDX-License-Identifier: Apache-2.0
#include "src/runner/forks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <system_error>

#include "src/core/error.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

TEST(Forks, give_back_what_each_piece_came_to) {
  Interrupts interrupts;
  Forks forks(interrupts);
  const std::string long_text(1 << 20, 'x');  // more than a pipe takes at once
  for (std::size_t piece = 0; piece < 4; ++piece) {
    forks.start(piece, [&] {
      return Json{{"piece", piece}, {"pid", getpid()}, {"text", long_text}};
    });
  }
  EXPECT_EQ(forks.size(), 4U);
  std::map<std::size_t, Json> results;
  while (forks.size() > 0) {
    Forks::Done done = forks.wait();
    results[done.piece] = std::move(done.result);
  }
  ASSERT_EQ(results.size(), 4U);
  for (const auto& [piece, result] : results) {
    EXPECT_EQ(result.at("piece"), piece);
    EXPECT_NE(result.at("pid"), getpid());
    EXPECT_EQ(result.at("text"), long_text);
  }
}

TEST(Forks, throw_what_their_work_threw) {
  Interrupts interrupts;
  Forks forks(interrupts);
  forks.start(0, []() -> Json { throw ResultsError("another program"); });
  EXPECT_THROW(forks.wait(), ResultsError);
  forks.start(0, []() -> Json { throw ConfigError("wrong"); });
  EXPECT_THROW(forks.wait(), ConfigError);
  forks.start(
      0, []() -> Json { throw std::system_error(ENOSPC, std::generic_category(), "the log"); });
  EXPECT_THROW(forks.wait(), Unsupported);
  forks.start(0, []() -> Json { throw std::logic_error("a fault"); });
  EXPECT_THROW(forks.wait(), std::runtime_error);
  forks.start(0, []() -> Json { _exit(7); });
  EXPECT_THROW(forks.wait(), std::runtime_error);
  EXPECT_EQ(forks.size(), 0U);
}

TEST(Forks, pass_on_an_interrupt_once) {
  Interrupts interrupts;
  Forks forks(interrupts);
  for (std::size_t piece = 0; piece < 2; ++piece) {
    forks.start(piece, [&] {
      while (interrupts.count() == 0) usleep(1000);
      usleep(100'000);
      return Json(interrupts.count());
    });
  }
  kill(getpid(), SIGINT);
  EXPECT_FALSE(forks.was_interrupted());
  EXPECT_EQ(forks.wait().result, 1);
  EXPECT_EQ(forks.wait().result, 1);
  EXPECT_TRUE(forks.was_interrupted());
}

TEST(Forks, end_what_is_at_work) {
  pid_t process = 0;
  {
    Interrupts interrupts;
    Forks forks(interrupts);
    forks.start(0, []() -> Json {
      for (;;) pause();
    });
    forks.start(1, [] { return Json(getppid()); });
    process = forks.wait().result.get<pid_t>();
  }
  EXPECT_EQ(process, getpid());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // there is no child any more
}

}  // namespace
}  // namespace headroom
