// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headroom {

/// The whole program: reads the arguments, does what they ask, turns every error into a message on
/// standard error and an exit code.
int run_command_line(int argc, char** argv, std::string_view catalog_json);

}  // namespace headroom
