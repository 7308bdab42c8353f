// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headroom {

/// What the processes of a program that ran dry took, as a table for people, a line for each device
/// of each process, and what else is to be said of them. `processes`: as `plan --json` prints them;
/// not empty.
std::string format_processes(const std::vector<nlohmann::ordered_json>& processes);

}  // namespace headroom
