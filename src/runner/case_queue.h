// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "src/suite/case.h"

namespace headroom {

/// A case that is to be done beside others.
struct QueuedCase {
  const Case* one;
  std::size_t piece;                // its number
  std::size_t places = 1;           // that it takes, such as GPUs
  const Case* reference = nullptr;  // that must have ended before it starts, if it is in the queue
};

/// Which of some cases starts next, and where: they share places, each of which one case has at a
/// time. They start in their order. One that waits for places holds up those behind it, or it might
/// wait for ever; one that waits for its reference does not.
class CaseQueue {
 public:
  /// No case takes more than all `places`.
  CaseQueue(std::list<QueuedCase> cases, std::size_t places);

  struct Start {
    std::size_t piece;
    std::vector<std::size_t> places;  // counted from 0
  };
  /// Starts a case; nothing: none can start now.
  std::optional<Start> start();
  /// One that was started has ended.
  void end(std::size_t piece);
  /// No further one starts.
  void stop() { waiting_.clear(); }

 private:
  std::list<QueuedCase> waiting_;
  std::set<const Case*> not_ended_;
  std::set<std::size_t> free_;
  struct AtWork {
    const Case* one;
    std::vector<std::size_t> places;
  };
  std::map<std::size_t, AtWork> at_work_;  // by piece
};

}  // namespace headroom
