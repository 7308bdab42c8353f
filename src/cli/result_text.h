// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headroom {

/// A worker's result for people: a list of objects becomes a table, any other value a line
/// "name: value"; objects in it are indented. Members whose name ends in "bytes" also get a unit.
std::string format_result(const nlohmann::ordered_json& result);

}  // namespace headroom
