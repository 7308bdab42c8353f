// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

// The processes of this machine, by /proc: what this one takes, and what others take beside it.
namespace headroom {

/// Whether a process of this machine runs the same program file as this one, as the ranks of a case
/// do. False where that can't be seen.
bool runs_this_program(pid_t process);

/// How busy others keep the cores that this process may use, from the moment when this is made: the
/// CPU's counterpart of a GPU that somebody else computes on. Time that a host stole from this
/// machine counts as theirs.
class OtherLoad {
 public:
  /// `alone`: this process is the case's only one. Otherwise the time of all processes of this
  /// program counts as the case's own.
  explicit OtherLoad(bool alone);

  /// In percent of the cores' time since then, 0 to 100. Empty where /proc does not tell, as in
  /// less time than its clock's tick. The kernel counts in ticks of 10 ms: over less than some
  /// hundred of them this is a rough figure.
  std::optional<double> percent() const;

 private:
  /// In seconds since the machine or the process started.
  struct Reading {
    double busy = 0;   // of the cores, whoever used them
    double total = 0;  // busy or idle
    double own = 0;    // of the case's processes
  };
  Reading read() const;

  bool alone_;
  std::vector<int> cores_;
  std::chrono::steady_clock::time_point start_;
  Reading first_;
};

/// The most resident memory of this process so far (VmHWM): code and libraries included.
/// Empty where the system does not tell.
std::optional<std::int64_t> host_peak_bytes();

/// Memory the process may still take: what the system and its control group have free.
std::optional<std::int64_t> available_host_bytes();

/// Makes an allocation beyond `bytes` of private memory fail inside this process, where it can be
/// answered, and not by the kernel's killing it. Gives how much the process may have in all, with
/// what it has already. Throws std::system_error.
std::int64_t limit_host_memory(std::int64_t bytes);

}  // namespace headroom
