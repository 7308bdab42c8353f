// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace headroom {

/// Makes this process adopt what its children leave behind, also in sessions of their own, and ends
/// that, with SIGKILL, at its own end. It is to outlive every Process: whatever child there is at
/// its end is one that was left behind. To be used from a process with one thread.
class AdoptedProcesses {
 public:
  AdoptedProcesses();
  ~AdoptedProcesses();
  AdoptedProcesses(const AdoptedProcesses&) = delete;
  AdoptedProcesses& operator=(const AdoptedProcesses&) = delete;
};

/// Kills a child and takes its status. False: it did not end (a driver can hold it in the kernel).
bool end_child(pid_t child);

}  // namespace headroom
