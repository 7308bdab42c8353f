// SPDX-License-Identifier: Apache-2.0
#include "src/runner/adopted_processes.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "src/core/file_descriptor.h"

namespace headroom {
namespace {

constexpr int kUnkillableAfterMs = 30'000;

std::vector<pid_t> children() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> found;
  for (pid_t child; list >> child;) found.push_back(child);
  return found;
}

}  // namespace

AdoptedProcesses::AdoptedProcesses() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

AdoptedProcesses::~AdoptedProcesses() {
  // Ending one can hand its own children to us, so again until there are none.
  bool all_ended = true;
  for (std::vector<pid_t> left = children(); all_ended && !left.empty(); left = children()) {
    for (const pid_t child : left) all_ended = end_child(child) && all_ended;
  }
}

bool end_child(pid_t child) {
  kill(child, SIGKILL);
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  pollfd wait{ended.get(), POLLIN, 0};
  poll(&wait, 1, kUnkillableAfterMs);
  return waitpid(child, nullptr, WNOHANG) == child;
}

}  // namespace headroom
