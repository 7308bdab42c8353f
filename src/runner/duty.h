// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "src/runner/connection.h"
#include "src/runner/hello.h"
#include "src/runner/interrupt.h"

namespace headroom {

/// Calls on the runner, which is rank 0, again and again until it answers, and gives the connection
/// once it bids this deputy welcome.
/// Throws Unsupported, which says why, where it does not within `patience`, or refuses.
Connection call_runner(const Launch& launch, const Hello& hello, std::chrono::seconds patience);

/// Does what the runner asks of a deputy until it says that all is over: starts workers, one after
/// the other, the program `worker`, and tells what they say and how they end. Leaves no process
/// behind. A first interrupt is the runner's to answer, as launchers send it to all: only where
/// that takes 10 s, or a second one comes, it ends this. Gives why it ended before the runner said
/// so; empty: it did not.
std::string do_duty(Connection& runner, const Launch& launch, const std::string& worker,
                    Interrupts& interrupts);

}  // namespace headroom
