// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/workers/this_process.h"

namespace headroom {

/// What the program that started this one several times (torchrun, mpirun of Open MPI, srun of
/// Slurm) says of it.
struct Launch {
  std::string launcher;         // "torchrun"
  std::int64_t ranks = 1;       // how many were started, in all
  std::int64_t rank = 0;        // which this one is
  std::int64_t local_rank = 0;  // among those on this machine
  /// How many there are on this machine; nothing: the launcher does not say.
  std::optional<std::int64_t> local_ranks;
  std::string master_address;  // of the machine of rank 0: a name, or an IP address
  int master_port = 0;         // there; torchrun itself listens on it, with a store of its own

  /// The port at which the runner, which is rank 0, waits for its agents.
  int runner_port() const { return master_port + 1; }
  /// The port at which the workers of a case meet.
  int store_port() const { return master_port + 2; }

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// How this process was launched; nothing: by none of the launchers, or as the only one. Of
/// launchers within launchers the innermost counts: torchrun, mpirun, srun. Throws ConfigError,
/// which names the variable and says what is allowed, where one is missing or is not what its
/// launcher sets; MASTER_ADDR and MASTER_PORT, which only torchrun sets itself, included.
std::optional<Launch> read_launch(const Variables& environment);

}  // namespace headroom
