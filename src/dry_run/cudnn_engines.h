// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {

/// One way of cuDNN's to run a graph: an engine with its settings.
struct CudnnEngine {
  std::int64_t index = 0;                            // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
  std::optional<std::int64_t> workspace_bytes = {};  // not known where cuDNN can't be asked
  std::vector<cudnnBackendNumericalNote_t> numerical_notes = {};
  std::vector<cudnnBackendBehaviorNote_t> behavior_notes = {};
};

/// What `heuristics` (CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, with its graph) give, best first: what
/// the program's own cuDNN says and would run. Where it can't be asked, or has none but those that
/// it compiles when they run, for which it wants a driver (attention): one with tensor cores, one
/// without, of which no work area is known.
std::vector<CudnnEngine> engines_for(const GraphPart& heuristics);

}  // namespace headroom::dry_run
