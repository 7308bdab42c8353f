// SPDX-License-Identifier: Apache-2.0
#include "src/runner/case_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headroom {

CaseQueue::CaseQueue(std::list<QueuedCase> cases, std::size_t places) : waiting_(std::move(cases)) {
  for (const QueuedCase& queued : waiting_) not_ended_.insert(queued.one);
  for (std::size_t place = 0; place < places; ++place) free_.insert(place);
}

std::optional<CaseQueue::Start> CaseQueue::start() {
  const auto waits = [&](const QueuedCase& queued) {
    return not_ended_.contains(queued.reference);
  };
  const auto next = std::ranges::find_if_not(waiting_, waits);
  if (next == waiting_.end() || next->places > free_.size()) return std::nullopt;
  const auto behind = std::next(free_.begin(), static_cast<std::ptrdiff_t>(next->places));
  Start start{.piece = next->piece, .places = {free_.begin(), behind}};
  free_.erase(free_.begin(), behind);
  at_work_[next->piece] = {.one = next->one, .places = start.places};
  waiting_.erase(next);
  return start;
}

void CaseQueue::end(std::size_t piece) {
  const auto ended = at_work_.find(piece);
  not_ended_.erase(ended->second.one);
  free_.insert(ended->second.places.begin(), ended->second.places.end());
  at_work_.erase(ended);
}

}  // namespace headroom
