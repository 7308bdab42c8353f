// SPDX-License-Identifier: Apache-2.0
#include "src/programs/nccl_memory.h"

namespace headroom {

NcclMemory nccl_memory(std::int64_t communicators, std::int64_t pairs) {
  constexpr std::int64_t kConnection = 14 << 20;
  constexpr std::int64_t kFewestChannels = 2;
  constexpr std::int64_t kMostChannels = 32;
  constexpr std::int64_t kRing = 1;
  constexpr std::int64_t kRingAndTree = 3;  // connections
  return {.least = (communicators * kFewestChannels * kRing + pairs) * kConnection,
          .most = (communicators * kRingAndTree + pairs) * kMostChannels * kConnection};
}

}  // namespace headroom
