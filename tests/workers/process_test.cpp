// SPDX-License-Identifier: Apache-2.0
#include "src/workers/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

namespace headroom {
namespace {

const std::string kProgram = "/bin/true";
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

}  // namespace
}  // namespace headroom
