// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <string>

#include "src/core/file.h"
#include "src/workers/this_process.h"

namespace headroom {

/// Copies of this process at work beside one another, each on one piece: whoever calls workers
/// adopts all that they leave behind, so that two calls at once need a process each. To be used
/// from a process with one thread.
class Forks {
 public:
  using Json = nlohmann::ordered_json;

  /// `interrupts`: what comes is passed on to the copies, who see their own of the same object.
  explicit Forks(Interrupts& interrupts) : interrupts_(interrupts) {}
  /// Ends those at work with SIGKILL, and the workers that they started with them.
  ~Forks();
  Forks(const Forks&) = delete;
  Forks& operator=(const Forks&) = delete;

  std::size_t size() const { return forks_.size(); }
  /// Whether an interrupt was passed on. Who counted those of `interrupts` would take them away.
  bool was_interrupted() const { return was_interrupted_; }

  /// Starts a copy that does `work`, which is known by `piece`, and ends. Throws std::system_error
  /// where there is no room for it.
  void start(std::size_t piece, const std::function<Json()>& work);

  struct Done {
    std::size_t piece;
    Json result;
  };
  /// Waits until one of those at work has ended: there must be one. Throws what its work threw:
  /// ConfigError, ResultsError, and Unsupported also in the place of std::system_error.
  Done wait();

 private:
  struct Fork {
    std::size_t piece;
    pid_t process;
    FileDescriptor pipe;
    std::string text = {};  // that came so far
  };

  /// Reads what has come. True: that was all.
  static bool take(Fork& fork);
  static Done done(Fork& fork);

  Interrupts& interrupts_;
  std::list<Fork> forks_;
  bool was_interrupted_ = false;
};

}  // namespace headroom
