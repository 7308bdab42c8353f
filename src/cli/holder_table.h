// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace headroom {

/// What holds the peak of a process, as a table for people: a line for each kind and line of the
/// program, the largest first, those behind the twelfth in one. `holders`: as add_holders() gives
/// them. `label`: of the process.
std::string format_holders(const nlohmann::ordered_json& holders, const std::string& label);

}  // namespace headroom
