// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace headroom {

/// The least time that an update can take on a GPU of the table: its FLOPs, its bytes over the host
/// link and those to other ranks at the GPU's peak rates, the longest of the three. `record` is a
/// worker's; `tf32` says that float32 products may run as TF32. Nothing: the record does not count
/// FLOPs, or the GPU is unknown.
std::optional<std::int64_t> step_time_lower_bound_ns(const nlohmann::ordered_json& record,
                                                     const std::string& gpu, bool tf32);

}  // namespace headroom
