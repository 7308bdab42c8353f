// SPDX-License-Identifier: Apache-2.0
#include "src/workers/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string>
#include <system_error>
#include <vector>

namespace {
std::vector<pid_t> signalled;  // by kill(), below
}

/// Takes the place of the C library's.
extern "C" int kill(pid_t process, int signal) noexcept {
  signalled.push_back(process);
  return static_cast<int>(syscall(SYS_kill, process, signal));
}

namespace headroom {
namespace {

const std::string kProgram = "/bin/true";
using Clock = std::chrono::steady_clock;

constexpr uid_t kOtherUser = 61'234;  // no limit on processes holds for root

enum Result { started, refused, wrong, not_limited };

void limit_processes(rlim_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = std::min(count, limit.rlim_max);
  setrlimit(RLIMIT_NPROC, &limit);
}

bool can_fork() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 && waitpid(child, nullptr, 0) == child;
}

/// Starts a program as a user who may have no further process, until so many ms have passed; 0: for
/// ever. To be called in a process of its own.
Result start_without_room(int room_after_ms) {
  if (getuid() == 0 && setuid(kOtherUser) != 0) return not_limited;
  limit_processes(1);
  if (can_fork()) return not_limited;
  std::signal(SIGALRM, [](int) { limit_processes(RLIM_INFINITY); });
  const itimerval once{{0, 0}, {0, room_after_ms * 1000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  try {
    const Process process({kProgram}, "");
    pollfd ended{process.ended(), POLLIN, 0};
    poll(&ended, 1, -1);
    return process.try_wait() == ExitStatus{} ? started : wrong;
  } catch (const std::system_error& error) {
    const bool says_what = std::string(error.what()).find(kProgram) != std::string::npos;
    return error.code().value() == EAGAIN && says_what ? refused : wrong;
  }
}

Result in_a_child(int room_after_ms) {
  const pid_t child = fork();
  if (child == 0) _exit(start_without_room(room_after_ms));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<Result>(WEXITSTATUS(status)) : wrong;
}

TEST(Process, starts_once_there_is_room_for_it) {
  const Result result = in_a_child(100);
  if (result == not_limited) GTEST_SKIP() << "processes can't be limited here";
  EXPECT_EQ(result, started);
}

TEST(Process, says_that_there_is_no_room_for_it) {
  const Result result = in_a_child(0);
  if (result == not_limited) GTEST_SKIP() << "processes can't be limited here";
  EXPECT_EQ(result, refused);
}

TEST(Process, that_was_given_up_gets_no_signal_and_is_not_asked) {
  pid_t child = -1;
  {
    Process process({"/bin/sleep", "1000"}, "");
    child = process.give_up();
    signalled.clear();
    process.send(SIGCONT);
    EXPECT_EQ(process.try_wait(), std::nullopt);
    EXPECT_EQ(process.end(), std::nullopt);
  }
  EXPECT_TRUE(signalled.empty()) << signalled.front();
  EXPECT_TRUE(end_child(child, Clock::now() + std::chrono::seconds(20)));
}

TEST(Process, ends_with_all_of_its_group) {
  constexpr int kPatienceMs = 20'000;
  Process process({"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}, "");
  pollfd said{process.output(), POLLIN, 0};
  ASSERT_EQ(poll(&said, 1, kPatienceMs), 1);
  std::array<char, 32> text{};
  ASSERT_GT(read(process.output(), text.data(), text.size() - 1), 0);
  const FileDescriptor child_ended = watch_end(std::stoi(text.data()));
  EXPECT_EQ(process.end(), std::nullopt);
  pollfd ended{child_ended.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, kPatienceMs), 1);
}

TEST(EndChild, takes_what_is_no_child_for_ended) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(end_child(child, Clock::now() + std::chrono::milliseconds(300)));
}

/// A process that another one traces, which takes no notice of its end: nobody else hears of it.
struct Traced {
  pid_t process = -1;
  pid_t tracer = -1;
  bool holds = false;

  Traced() {
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) return;
    process = fork();
    if (process == 0) wait_for_ever();
    tracer = fork();
    if (tracer == 0) {
      const char seized = ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0 ? 1 : 0;
      [[maybe_unused]] const ssize_t ignored = write(ready[1], &seized, 1);
      wait_for_ever();
    }
    char seized = 0;
    holds = read(ready[0], &seized, 1) == 1 && seized == 1;
    for (const int end : ready) close(end);
  }
  ~Traced() {
    for (const pid_t each : {tracer, process}) {
      kill(each, SIGKILL);
      waitpid(each, nullptr, 0);
    }
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  [[noreturn]] static void wait_for_ever() {
    for (;;) pause();
  }
};

std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(EndChild, takes_no_processor_while_a_debugger_keeps_the_end_to_itself) {
  const Traced traced;
  if (!traced.holds) GTEST_SKIP() << "processes can't be traced here";
  const auto before = processor_time();
  EXPECT_FALSE(end_child(traced.process, Clock::now() + std::chrono::seconds(2)));
  EXPECT_LT(processor_time() - before, std::chrono::milliseconds(300));
}

}  // namespace
}  // namespace headroom
