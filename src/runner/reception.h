// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "src/runner/deputy.h"

namespace headroom {

/// Where deputies come to the runner. Anybody may.
class Reception {
 public:
  /// Listens from now on. Throws Unsupported where the port is taken, or may not be used.
  Reception(const Launch& launch, const Hello& here);

  /// Waits for the deputies of all other ranks and gives them in the order of their ranks. `said`
  /// hears of those that were refused. Throws Unsupported where some have not come within
  /// `patience`.
  std::vector<Deputy> receive(std::chrono::seconds patience,
                              const std::function<void(const std::string&)>& said);

 private:
  using Clock = std::chrono::steady_clock;

  /// Somebody who has not said yet who it is.
  struct Stranger {
    Connection connection;
    Ends ends;
    Clock::time_point leaves_at;
    bool is_done = false;
  };

  void wait(Clock::time_point deadline) const;
  void let_in();
  void hear(Stranger& stranger, const std::function<void(const std::string&)>& said);
  std::string why_refused(const Hello& hello) const;
  std::string missing() const;

  const Launch& launch_;
  const Hello& here_;
  FileDescriptor listener_;
  std::vector<Stranger> strangers_;
  std::vector<Deputy> deputies_;
};

}  // namespace headroom
