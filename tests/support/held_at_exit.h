// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace headroom {

/// Holds a process in the kernel at its exit, as a driver can: SIGKILL has no effect that others
/// see for as long as this lives, and the thread that made it. The process comes to its end then.
class HeldAtExit {
 public:
  explicit HeldAtExit(pid_t process)
      : process_(process),
        holds_(ptrace(PTRACE_SEIZE, process, nullptr, PTRACE_O_TRACEEXIT) == 0) {}
  ~HeldAtExit() {
    if (!holds_) return;
    waitpid(process_, nullptr, __WALL);  // it has come to its exit
    ptrace(PTRACE_DETACH, process_, nullptr, nullptr);
  }
  HeldAtExit(const HeldAtExit&) = delete;
  HeldAtExit& operator=(const HeldAtExit&) = delete;

  bool holds() const { return holds_; }  // false: this system does not let us

 private:
  pid_t process_;
  bool holds_;
};

}  // namespace headroom
