// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom {

/// A port of this machine that nobody listens on, with two such behind it.
int free_port();

/// Sets in this process what a launcher ("torchrun", "srun" or "mpirun") would: it is that rank of
/// so many, all on this machine.
void become_rank(const std::string& launcher, int rank, int ranks, int port);

}  // namespace headroom
