// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace headroom {

/// What is reserved and not allocated at the peak of reserved memory of a process, for people: by
/// pool and stream; then for what the last segment came, and what lies beside the free pieces that
/// were too small for it. `peak`: as add_reserved_peaks() gives it. `label`: of the process.
std::string format_reserved(const nlohmann::ordered_json& peak, const std::string& label);

}  // namespace headroom
