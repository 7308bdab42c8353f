// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace headroom {

/// What is wrong with the arguments, and what is allowed: "run: unknown option --devise; did you
/// mean '--device'? Allowed: ...".
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace headroom
