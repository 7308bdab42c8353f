// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// What has a worker measure a case on that device ("cpu" or "cuda"), within the case's own limits.
/// Where the case's ranks are joined it is the request to rank 0. What the worker prints goes to
/// the descriptor `log`, which stays the caller's.
WorkerRequest measure_request(const std::string& worker, const std::string& device, const Case& one,
                              const Catalog& catalog, int log);

}  // namespace headroom
