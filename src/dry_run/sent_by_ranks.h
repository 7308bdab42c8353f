// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/peers.h"
#include "src/dry_run/reduction.h"

namespace headroom::dry_run {

/// What is known of what a rank sends, as it tells the others.
Peers::Message message_of(const PartlyKnown& known);
/// Nothing, where the message is not of so many bytes.
PartlyKnown known_of(const Peers::Message& message, std::int64_t size);

/// What is known of what each rank sends, all of them as many bytes.
class Sent {
 public:
  /// Of all ranks the same.
  Sent(PartlyKnown same, int ranks);
  Sent(const std::vector<Peers::Message>& messages, std::int64_t size);

  int ranks() const { return ranks_; }
  const PartlyKnown& of(int rank) const;
  /// `size` bytes of it, from `begin` on.
  PartlyKnown of(int rank, std::int64_t begin, std::int64_t size) const;
  /// Those of all ranks, reduced.
  PartlyKnown reduced(std::int64_t begin, std::int64_t size, Reduction reduction,
                      Number number) const;

 private:
  std::vector<PartlyKnown> of_ranks_;
  int ranks_;
};

}  // namespace headroom::dry_run
