// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headroom {

/// Bytes that NCCL takes of the device for itself.
struct NcclMemory {
  std::int64_t least;
  std::int64_t most;
};

/// For so many communicators that ran collectives, and so many pairs of ranks that sent to each
/// other. How many channels NCCL opens depends on the links of the machine: 2 to 32 are taken.
///
/// A connection of a channel has buffers for three protocols where it receives (4 MiB, 4.7 MiB,
/// 0.5 MiB: src/init.cc of NCCL), in pages of 2 MiB, and small ones where it sends: 14 MiB in all,
/// as github.com/NVIDIA/nccl/issues/1685 measured (3.28 GB for 32 channels to each of 7 ranks).
/// Least: a ring on each channel, or one channel to a rank that is sent to; most: a tree with two
/// neighbours as well. NVLink SHARP and networks with reductions of their own may take more.
NcclMemory nccl_memory(std::int64_t communicators, std::int64_t pairs);

}  // namespace headroom
