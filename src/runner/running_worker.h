// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "src/runner/worker_end.h"

namespace headroom {

/// A worker from its start to its end, on this machine or another. Nothing here waits.
class RunningWorker {
 public:
  virtual ~RunningWorker() = default;

  /// What to poll for.
  virtual std::array<pollfd, 3> awaited() const = 0;
  /// What has come of its messages, and of what it printed, since the last call: at most so much
  /// that no worker keeps the others waiting. Empty: nothing for now. Valid until the next call.
  virtual std::string_view read_messages() = 0;
  virtual std::string_view read_output() = 0;
  /// How it ended; nothing while it runs. What it said last may still have to be read.
  virtual std::optional<WorkerEnd> try_wait() = 0;
  /// To the worker and all it started.
  virtual void send(int signal) = 0;
};

}  // namespace headroom
