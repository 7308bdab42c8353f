// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headroom {

/// A number of bytes in an object of `plan --json`, for people; "not known": it has none.
std::string bytes_in(const nlohmann::ordered_json& object, const char* name);

/// A number of nanoseconds in such an object, for people. Throws if it has none.
std::string milliseconds_in(const nlohmann::ordered_json& object, const char* name);

/// Which of several processes it is, for people: "rank 3 on GPU 3".
std::string label_of(const nlohmann::ordered_json& process);

/// What the processes of a program that ran dry took, as a table for people, a line for each device
/// of each process, and what else is to be said of them. `processes`: as `plan --json` prints them;
/// not empty.
std::string format_processes(const std::vector<nlohmann::ordered_json>& processes);

}  // namespace headroom
