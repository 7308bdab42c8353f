// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/runner/process.h"

namespace headroom {

/// How a worker ended.
struct WorkerEnd {
  ExitStatus exit = {};
  bool killed_for_memory = false;  // by the kernel, as its counter for the cgroup says
  /// Why nobody knows how it ended: the connection to its machine was lost. Empty: it was not.
  std::string lost = {};

  friend bool operator==(const WorkerEnd&, const WorkerEnd&) = default;
};

/// As a deputy tells the runner, to whom alone a worker can be lost.
std::string to_text(const WorkerEnd& end);

/// Nothing: it is none. A stranger may have written it.
std::optional<WorkerEnd> read_worker_end(std::string_view text);

}  // namespace headroom
