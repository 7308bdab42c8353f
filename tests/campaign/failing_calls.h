// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// A library that is loaded before a program (LD_PRELOAD) and makes its calls of the C library fail.
// The variable FAILING_CALLS says which, in words with a space between them:
//
//     FAILING_CALLS="PROGRAM LOG [CALL:N:ACTION[:ever]]..."
//
// PROGRAM  the file name of the executable whose calls fail; in every other program, such as one
//          that it starts, the library does nothing. A child that it forks is still this program.
// LOG      a file that is made or gone on with: how often each call was called and failed, by all
//          processes of PROGRAM together, and how far each fault is. "-": none is kept, and each
//          process of PROGRAM counts with its forked children alone.
// CALL     one of failing_calls.cpp, or `any`.
// N        the fault comes at the N-th such call, from 1. A second fault counts the calls behind
//          the first one, a third those behind the second.
// ACTION   EIO or another name of errno: the call does nothing and fails so (close() closes).
//          Pipes and sockets do not fail as disks do: ENOSPC, EDQUOT and EIO of read and write
//          pass them by.
//          short: a read or write is asked for half of its bytes only.
//          kill, kill_after: the calling process sends itself SIGKILL before or behind the call.
// ever     each such call from the N-th on does so.
//
// FAILING_CALLS="headroom - pwrite:3:ENOSPC any:2:kill": the third pwrite fails, and two calls
// later, whichever they are, the process is killed. A wrong value ends the program with 125.
//
// LOG begins with kMostFaults numbers of 8 bytes: the calls that each fault has counted. Then for
// each call its name in 16 bytes, the number of calls in 8, and of those that an action met in 8.
namespace headroom::failing_calls {

inline constexpr std::size_t kMostFaults = 4;

enum class ActionKind { none, fail, shorten, kill, kill_after };

struct Action {
  ActionKind kind = ActionKind::none;
  int error = 0;  // errno, where it fails
};

/// Reads FAILING_CALLS. `names` are those of the calls; all calls are numbered as they are there.
void begin(const char* const* names, std::size_t count);

/// Counts a call, and says what happens to it: nothing that happens to disks alone, where it
/// `has_no_disk`. Allocates nothing and takes no lock.
Action next_action(std::size_t call, bool has_no_disk);

}  // namespace headroom::failing_calls
