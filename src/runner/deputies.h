// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/runner/deputy.h"
#include "src/runner/process_environment.h"

namespace headroom {

/// The deputies of all ranks but the runner's own, at the runner.
class Deputies {
 public:
  /// Waits until all have come, on the port that `launch` names. Whoever else comes is sent away;
  /// `said` hears of those that were refused as deputies.
  /// Throws Unsupported where a port is taken, or some have not come within `patience`.
  Deputies(const Launch& launch, const Hello& here, std::chrono::seconds patience,
           const std::function<void(const std::string&)>& said);
  /// Says to all that all is over.
  ~Deputies();
  Deputies(const Deputies&) = delete;
  Deputies& operator=(const Deputies&) = delete;

  const Launch& launch() const { return launch_; }
  /// Of a rank from 1 on.
  Deputy& of(std::size_t rank) { return all_.at(rank - 1); }

  /// The address of a rank's machine by which the other machines reach it; empty: there is but one.
  std::string address_of(std::size_t rank) const;
  /// How many threads each of the first `ranks` ranks gets, so that those on one machine that may
  /// use the same cores share them out; 0: as many as are set there, in its environment.
  std::vector<std::int64_t> threads_of(std::size_t ranks) const;

  /// Which of them is lost, and why; empty: none.
  std::string lost();

 private:
  Launch launch_;
  Hello here_;
  std::vector<Deputy> all_;
};

}  // namespace headroom
