// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>

#include "src/dry_run/moment.h"
#include "src/dry_run/nccl_buffers.h"
#include "src/dry_run/peers.h"

/// A communicator, as one of its ranks has it.
struct ncclComm {
  int ranks;
  int rank;
  int device;
  bool knows_ranks = true;  // false: `ranks` is the most that there can be
  /// Only neighbours have sent to each other in it so far, along a pipeline.
  bool is_pipeline = true;
  /// The other ranks, where all of them run; null: this process plays this rank alone.
  std::shared_ptr<headroom::dry_run::Peers> peers;
  std::unique_ptr<headroom::dry_run::NcclBuffers> buffers{};
};

namespace headroom::dry_run {

/// What a rank tells of a moment of its own, and what is known then.
Peers::Message message_at(const Moment& moment, const Peers::Message& known);
/// Takes the former off; the first of all moments where the rank told nothing.
Moment take_moment(Peers::Message& message);

/// Does what waits for other ranks: now, or, within a group, at its end, since a group may hold
/// what they wait for.
void wait_in_group(std::function<void()> work);

}  // namespace headroom::dry_run
