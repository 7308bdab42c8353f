// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "src/runner/deputies.h"

// `headroom run` that a launcher started several times: rank 0 is the runner, the others are its
// deputies. `program`: what --version prints.
namespace headroom {

/// Waits for the deputies. Throws Unsupported where a port is taken or they do not come.
std::unique_ptr<Deputies> meet_deputies(const Launch& launch, const std::string& program);

/// Is a deputy until the runner needs it no longer, and gives the exit code. Throws Unsupported
/// where the runner does not answer, or refuses it.
int run_deputy(const Launch& launch, const std::string& program);

}  // namespace headroom
