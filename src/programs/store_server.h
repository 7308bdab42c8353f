// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "src/core/file.h"
#include "src/programs/played_store.h"
#include "src/programs/store_request.h"

namespace headroom {

/// A PlayedStore behind a port of this machine, for the processes of one rank. It never waits:
/// whoever holds it polls what it awaits, and calls exchange().
class StoreServer {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long a rank may wait for a value that nobody sets: its own other threads may.
  static constexpr std::chrono::seconds kPatience{30};

  /// `of_others`: what ranks that ran before have set. Throws std::system_error.
  explicit StoreServer(PlayedStore::Values of_others = {});

  /// What this rank has set.
  const PlayedStore::Values& values() const { return store_.values(); }
  int port() const;
  std::vector<pollfd> awaited() const;
  /// Takes what has come, and answers what can be answered now.
  void exchange();

  /// Why the rank can't go on: what it asks that no rank that runs can answer. Empty: it can.
  std::string why_stuck(Clock::time_point now) const;

 private:
  struct Client {
    FileDescriptor socket;
    StoreRequestReader reader{};
    bool is_valid = false;                  // it speaks as PyTorch does
    std::optional<StoreRequest> waiting{};  // its last request, where it has no answer yet
    Clock::time_point since{};
    std::string unsent{};
    bool is_over = false;
  };

  void read(Client& client);
  void take_requests(Client& client);
  void answer_those_who_wait();

  FileDescriptor listener_;
  std::list<Client> clients_;
  PlayedStore store_;
  std::string fault_;
};

}  // namespace headroom
