// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headroom {

/// How a program ended, and what it said.
struct Ended {
  int code = -1;  // -1: by the signal
  int signal = 0;
  std::string out;
  std::string err;
};

/// A program of the build that runs. Whoever makes one waits for it.
class Program {
 public:
  /// `name`: of its file in the build's folder, or an absolute path. `prepare` runs in the child
  /// before it starts.
  Program(
      const std::string& name, const std::vector<std::string>& arguments,
      const std::function<void()>& prepare = [] {});
  pid_t pid() const { return pid_; }
  /// The workers of a `headroom` that run, oldest first; not its helpers, such as the loader that
  /// lists a worker's libraries, nor what has not become a worker yet.
  std::vector<pid_t> workers() const;
  void send(int signal) const;
  Ended wait();

 private:
  TemporaryFolder folder_;  // of what it says
  pid_t pid_;
};

/// Whether a process of this machine runs.
bool is_alive(pid_t process);

/// Whether it is gone within 2 s: what ends with its parent ends a moment after it.
bool ends_soon(pid_t process);

}  // namespace headroom
