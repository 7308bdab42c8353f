// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "src/workers/agents.h"

// `headroom run` that a launcher started several times: rank 0 is the runner, the others are its
// agents. `program`: what --version prints.
namespace headroom {

/// Waits for the agents. Throws Unsupported where a port is taken or they do not come.
std::unique_ptr<Agents> meet_agents(const Launch& launch, const std::string& program);

/// Is an agent until the runner needs it no longer, and gives the exit code. Throws Unsupported
/// where the runner does not answer, or refuses it.
int run_agent(const Launch& launch, const std::string& program);

}  // namespace headroom
