// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "src/workers/agent_messages.h"
#include "src/workers/connection.h"
#include "src/workers/program_file.h"
#include "src/workers/this_process.h"

// What an agent does: it connects to the runner and runs workers for it. An agent is a headroom
// that a launcher started beside the runner, as another rank: it starts that rank's workers.
namespace headroom {

/// Connects to the runner, which is rank 0, trying until it answers, and gives the connection once
/// the runner welcomes this agent.
/// Throws Unsupported, which says why, where it does not within `timeout`, or refuses.
Connection call_runner(const Launch& launch, const Hello& hello, std::chrono::seconds timeout);

/// Does what the runner asks of an agent until it says that all is over: starts workers, one after
/// the other, the program `worker`, and tells what they say and how they end, or that it is another
/// program by now. Leaves no process behind. A first interrupt is the runner's to answer, as
/// launchers send it to all: only where that takes 10 s, or a second one comes, it ends this. Gives
/// why it ended before the runner said so; empty: it did not.
std::string serve_runner(Connection& runner, const Launch& launch, ProgramFile& worker,
                         Interrupts& interrupts);

}  // namespace headroom
