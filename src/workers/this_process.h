// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/core/file.h"

// What this process is to the system: its signals, its variables, its cores, and the processes that
// its children leave to it.
namespace headroom {

/// While it lives, SIGINT, SIGTERM and SIGHUP end nothing by themselves: they are counted, and
/// whoever waits sees them as a readable descriptor.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return signals_.get(); }

  /// How many have come so far.
  int count();

 private:
  sigset_t before_;
  FileDescriptor signals_;
  int count_ = 0;
};

/// Ignores SIGPIPE and SIGXFSZ for the rest of the program: a write to a closed pipe or past the
/// limit of a file's size is then an error, and not the end.
void turn_write_signals_into_errors();

/// Makes this process adopt what its children leave behind, also in sessions of their own, and ends
/// that with SIGKILL at its own end. It must outlive every Process: whatever child there is at its
/// end is one that was left behind. To be used from a process with one thread.
class AdoptedProcesses {
 public:
  AdoptedProcesses();
  ~AdoptedProcesses();
  AdoptedProcesses(const AdoptedProcesses&) = delete;
  AdoptedProcesses& operator=(const AdoptedProcesses&) = delete;
};

/// Kills a child and takes its status. False: it did not end (a driver can hold it in the kernel).
bool end_child(pid_t child);

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
