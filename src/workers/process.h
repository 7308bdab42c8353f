// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/file.h"
#include "src/workers/this_process.h"

namespace headroom {

/// How a process ended: by `signal`, or, where that is 0, with the exit status `code`.
struct ExitStatus {
  int code = 0;
  int signal = 0;

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// The same as a shell says it: 128 and the signal.
int exit_code_of(const ExitStatus& exit);

/// Waits for the end of a child, and takes its status. Throws std::system_error.
ExitStatus take_status(pid_t child);

/// Starts a program as a child, which gets SIGKILL when this process ends, in whatever way.
/// `become` runs in the child, where nothing may be allocated. It calls exec, and returns, with
/// errno set, only where that fails. What this process ignores of the signals of writes, the child
/// does not, and no signal is blocked. Gives its number. Throws std::system_error with `name` where
/// it can't be started. To be used from a process with one thread.
pid_t start_child(const std::string& name, const std::function<void()>& become);

/// A child in a process group of its own. It sees standard input (`input`, to its end), standard
/// output and error (one pipe, `output()`), and file descriptor 3 (a pipe, `messages()`); nothing
/// else that is open here. It gets SIGKILL when this process ends, in whatever way, and when memory
/// runs out the kernel takes it before this process.
///
/// To be used from a process with one thread. What leaves the group is not ended with it:
/// AdoptedProcesses ends that.
class Process {
 public:
  /// Starts the program `arguments[0]`, a path; no shell. `environment` is set beside this
  /// process's own variables. Throws std::system_error that names the program where it can't be
  /// started.
  Process(const std::vector<std::string>& arguments, std::string_view input,
          const Environment& environment = {});
  /// Ends, with SIGKILL, the child and its group, unless it was given up.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int output() const { return output_.get(); }      // to read, non-blocking
  int messages() const { return messages_.get(); }  // to read, non-blocking
  int ended() const { return ended_.get(); }        // readable, as poll sees it, once it has ended

  /// How the child ended; nothing while it runs, or where it was given up.
  std::optional<ExitStatus> try_wait() const;

  /// Sends a signal to the whole process group, unless it was given up.
  void send(int signal) const;

  /// Ends the child and its group with SIGKILL, unless it was given up, and waits kUnkillableAfter.
  /// Gives the number of a child that has not ended by then; it is given up.
  std::optional<pid_t> end();

  /// Gives up a child that SIGKILL did not end: nothing here waits for it. Gives its number.
  pid_t give_up() { return std::exchange(pid_, kNone); }

 private:
  static constexpr pid_t kNone = -1;

  pid_t pid_ = kNone;
  FileDescriptor output_;
  FileDescriptor messages_;
  FileDescriptor ended_;
};

/// What exec wants: pointers into `texts`, and a null behind them. The type says that exec changes
/// the texts; it does not.
std::vector<char*> pointers_to(const std::vector<std::string>& texts);

/// How many processes of this process's cgroup the kernel has killed for lack of memory so far;
/// nothing where no counter can be read. Both versions of cgroups are known. `root` stands before
/// every path.
std::optional<std::int64_t> count_oom_kills(const std::string& root = "");

}  // namespace headroom
