// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/workers/process.h"

// Requests to workers and their replies: docs/protocol.md.
namespace headroom {

struct Agent;

struct WorkerRequest {
  std::string worker;           // the program's path
  Agent* agent = nullptr;       // who starts its own worker in place of that one
  nlohmann::ordered_json body;  // the request, without its nonce
  Environment environment;      // beside this process's own
  int log = 2;                  // where the worker's standard output and error go, up to 1 MiB
  std::chrono::seconds silence{600};       // the longest time between two messages
  std::chrono::seconds total{3600};        // the longest time altogether
  std::chrono::milliseconds grace{5'000};  // between SIGTERM and SIGKILL
  std::chrono::milliseconds unkillable{kUnkillableAfter};
};

/// Where a worker is, as it said last.
struct WorkerProgress {
  std::string phase = "start";
  std::int64_t step = 0;
  std::int64_t steps = 0;
  /// Messages of progress so far. Ranks of one case send the same ones, so that of two ranks the
  /// one with fewer is behind.
  std::int64_t messages = 0;
};

/// "phase timing, step 3 of 10".
std::string describe(const WorkerProgress& progress);

struct WorkerReply {
  enum class Ending {
    answered,     // with a record
    crashed,      // it ended with none
    lost,         // the connection to its machine was lost
    broken,       // what it said is not of the protocol
    timed_out,    // it was silent, or took, too long
    dismissed,    // it was ended, since another worker went wrong
    interrupted,  // the user ended it
  };

  Ending ending = Ending::crashed;
  std::string reason;  // for people. Where it answered: empty, or how it ended other than with 0
  nlohmann::ordered_json record;  // where it answered; else null
  ExitStatus exit;
  /// When that was seen. Of one that answered, broke the protocol or timed out: its last message.
  std::chrono::steady_clock::time_point ended_at;
  WorkerProgress last;
  bool killed_for_memory = false;  // by the kernel, as its counter for this cgroup says
  /// A process of this machine that not even SIGKILL ended: it may hold memory, and a GPU.
  std::optional<pid_t> unended = {};
};

/// Starts a worker for each request, all at once, and waits for their ends, and the ends of all
/// they started. A worker that must end gets SIGTERM, and SIGKILL when its grace is over, or at the
/// second interrupt; one that does not end then is waited for no longer. Time in which this process
/// did not run (it was stopped, or its container frozen) is no worker's: the silence of each begins
/// anew. Where one of several goes wrong, the others may wait for it for ever: a second
/// later, in which they can say their last word, all get SIGKILL. `on_progress` is called for each
/// progress message of the first worker. Gives the replies in the order of the requests. Throws
/// std::system_error where a worker can't be started, ConfigError where a text of its request, a
/// path, is no UTF-8.
std::vector<WorkerReply> call_workers(
    const std::vector<WorkerRequest>& requests, Interrupts& interrupts,
    const std::function<void(const WorkerProgress&)>& on_progress);

/// Calls one worker, as call_workers does.
WorkerReply call_worker(const WorkerRequest& request, Interrupts& interrupts,
                        const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
