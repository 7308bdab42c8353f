// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/file.h"

// What this process is to the system: its signals, its variables, its cores, and the processes that
// its children leave to it.
namespace headroom {

/// While it lives, SIGINT, SIGTERM and SIGHUP, or other `signals`, end nothing by themselves: they
/// are counted, and whoever waits sees them as a readable descriptor. Those that were ignored
/// before stay so: of a job in the background, or under nohup.
class Interrupts {
 public:
  explicit Interrupts(std::initializer_list<int> signals = {SIGINT, SIGTERM, SIGHUP});
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return signals_.get(); }

  /// One that has come and was not given yet.
  std::optional<int> next();

  /// How many have come so far.
  int count();

 private:
  sigset_t before_;
  FileDescriptor signals_;
  int count_ = 0;
};

/// Sets right what a program inherits from whoever started it, for the rest of it. To be called
/// before anything is opened or started. Closed standard descriptors are opened. The ends of
/// children are reported, also where SIGCHLD was ignored. A write to a closed pipe or past the
/// limit of a file's size is an error, and not the end (SIGPIPE, SIGXFSZ). Throws
/// std::system_error. Beside that, Interrupts leaves alone what was ignored, and AdoptedProcesses
/// inherited children.
void set_inheritance_right();

/// Makes this process adopt what its children leave behind, also in sessions of their own, and ends
/// that with SIGKILL at its own end, for which it waits kUnkillableAfter in all. It must outlive
/// every Process. Spares the children that there were before it, which this process inherited
/// through exec, and what they leave behind in their process groups. To be used from a process with
/// one thread.
class AdoptedProcesses {
 public:
  AdoptedProcesses() { begin(); }  // throws std::system_error
  ~AdoptedProcesses();
  AdoptedProcesses(const AdoptedProcesses&) = delete;
  AdoptedProcesses& operator=(const AdoptedProcesses&) = delete;

  /// Begins anew: spares the children that there are now. Also needed after fork, by the child.
  void begin();
  /// Spares one more child: not even SIGKILL ended it, so nobody waits for it again.
  void spare(pid_t child) { spared_.push_back(child); }

 private:
  std::vector<pid_t> left_behind() const;

  // Opened at the beginning: at the end there may be no descriptor left to open it with.
  FileDescriptor children_;
  std::vector<pid_t> spared_;
  std::vector<pid_t> spared_groups_;
};

/// A descriptor that is readable, as poll sees it, once the process has ended. Throws
/// std::system_error.
FileDescriptor watch_end(pid_t process);

/// How long after SIGKILL a process is waited for: a driver can hold it in the kernel.
inline constexpr std::chrono::seconds kUnkillableAfter{30};

/// Kills a child and takes its status. False: it had not ended by `deadline`.
bool end_child(pid_t child, std::chrono::steady_clock::time_point deadline);

/// Changes to the variables of the environment: name and value.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The variable that says how many threads LibTorch starts.
inline constexpr const char* kThreads = "OMP_NUM_THREADS";

/// This process's environment with `changes`, as "NAME=VALUE".
std::vector<std::string> environment_with(const Environment& changes);

/// Variables of an environment, by name.
using Variables = std::map<std::string, std::string, std::less<>>;

/// The variables of this process.
Variables environment_variables();

/// How many cores this process may use; 0: the system does not say.
int usable_cores();

/// A hash of the set of cores that this process may use.
std::string usable_core_set();

}  // namespace headroom
