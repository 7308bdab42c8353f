// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/runner/worker_call.h"
#include "src/suite/case.h"

namespace headroom {

/// What has a worker measure a case on that device ("cpu" or "cuda"), within the case's own limits.
/// What the worker prints goes to the descriptor `log`, which stays the caller's.
WorkerRequest measure_request(const std::string& worker, const std::string& device, const Case& one,
                              int log);

}  // namespace headroom
