// SPDX-License-Identifier: Apache-2.0
// A message holds the bytes. Where some are not known, as many follow that are 1 for each of these.
#include "src/dry_run/sent_by_ranks.h"

#include <utility>

namespace headroom::dry_run {

Peers::Message message_of(const PartlyKnown& known) {
  Peers::Message message = known.bytes;
  if (known.has_any()) message.insert(message.end(), known.gaps.begin(), known.gaps.end());
  return message;
}

PartlyKnown known_of(const Peers::Message& message, std::int64_t size) {
  if (std::ssize(message) != size && std::ssize(message) != 2 * size) return {};
  const auto end = message.begin() + size;
  return {{message.begin(), end}, {end, message.end()}};
}

Sent::Sent(PartlyKnown same, int ranks) : of_ranks_{std::move(same)}, ranks_(ranks) {}

Sent::Sent(const std::vector<Peers::Message>& messages, std::int64_t size)
    : ranks_(static_cast<int>(messages.size())) {
  for (const Peers::Message& message : messages) of_ranks_.push_back(known_of(message, size));
}

const PartlyKnown& Sent::of(int rank) const {
  return of_ranks_[of_ranks_.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
}

PartlyKnown Sent::of(int rank, std::int64_t begin, std::int64_t size) const {
  const PartlyKnown& all = of(rank);
  if (!all.has_any()) return {};
  PartlyKnown part{{all.bytes.begin() + begin, all.bytes.begin() + begin + size}, {}};
  if (!all.gaps.empty()) part.gaps = {all.gaps.begin() + begin, all.gaps.begin() + begin + size};
  return part;
}

PartlyKnown Sent::reduced(std::int64_t begin, std::int64_t size, Reduction reduction,
                          Number number) const {
  std::vector<PartlyKnown> parts;
  for (int rank = 0; rank < ranks_; ++rank) {
    parts.push_back(of(rank, begin, size));
    if (!parts.back().has_any()) return {};
  }
  return reduce(parts, reduction, number);
}

}  // namespace headroom::dry_run
