// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/suite/catalog.h"

namespace headroom {

/// What can change a number and is in no column of its own: {"cpu", "cores", "kernel", "libtorch",
/// "variables": {name: value}}, of the processor, the cores that may be used, and the variables
/// that LibTorch and CUDA read. The commit is not in it, so that two commits compare.
nlohmann::ordered_json environment(const Catalog& catalog);

/// The columns that tell where and by what was measured, other than the worker's own: commit, cpu,
/// and environment_hash. `here`: what environment() gives.
nlohmann::ordered_json provenance_columns(const Catalog& catalog,
                                          const nlohmann::ordered_json& here);

/// Now, in UTC: "2026-11-21T11:30:05Z". A label; durations come from other clocks.
std::string utc_now();

}  // namespace headroom
