// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom {

/// Throws ConfigError where the file of a program, found on PATH as a shell would, was built for
/// another kind of machine: the system takes such a one for a script, or, of 32 bits, runs it
/// without the dry run's libraries.
void check_is_for_this_machine(const std::string& program);

}  // namespace headroom
