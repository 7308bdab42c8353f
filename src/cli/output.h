// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headroom {

/// Writes to standard output. A reader that went away (`headroom list | head`) had enough: that is
/// no error. Throws std::system_error where it can't be written for another reason.
void print(std::string_view text);

/// One line to standard error, after "headroom: ". Never fails, and gives up after a second where
/// nobody reads it.
void say(std::string_view text);

/// A worker's result for people: a list of objects becomes a table, any other value a line
/// "name: value"; objects in it are indented. Members whose name ends in "bytes" also get a unit.
std::string format_result(const nlohmann::ordered_json& result);

}  // namespace headroom
