// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "src/runner/interrupt.h"
#include "src/runner/process.h"

// One conversation with a worker: docs/protocol.md.
namespace headroom {

struct WorkerRequest {
  std::string worker;           // the program's path
  nlohmann::ordered_json body;  // the request, without its nonce
  Environment environment;      // beside this process's own
  int log = 2;                  // where the worker's standard output and error go, up to 1 MiB
  std::chrono::seconds silence{600};  // the longest time between two messages
  std::chrono::seconds total{3600};   // the longest time altogether
};

/// Where a worker is, as it said last.
struct WorkerProgress {
  std::string phase = "start";
  std::int64_t step = 0;
  std::int64_t steps = 0;
};

struct WorkerReply {
  enum class Ending {
    answered,     // with a record
    crashed,      // it ended with none
    broken,       // what it said is not of the protocol
    timed_out,    // it was silent, or took, too long
    interrupted,  // the user ended it
  };

  Ending ending = Ending::crashed;
  std::string reason;  // for people. Where it answered: empty, or how it ended other than with 0
  nlohmann::ordered_json record;  // where it answered; else null
  ExitStatus exit;
  WorkerProgress last;
  bool killed_for_memory = false;  // by the kernel, as its counter for this cgroup says
};

/// Starts a worker, hands it the request, and waits for its end, and the end of all it started. A
/// worker that must end gets SIGTERM, and SIGKILL five seconds later, or at the second interrupt.
/// `on_progress` is called for each progress message.
/// Throws std::system_error where the worker can't be started.
WorkerReply call_worker(const WorkerRequest& request, Interrupts& interrupts,
                        const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
