// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "src/core/tcp.h"
#include "src/workers/agent_messages.h"
#include "src/workers/connection.h"

// The agents as the runner sees them; what an agent itself does: src/workers/agent.h.
namespace headroom {

/// An agent at the runner: the process that a launcher started beside the runner, as another rank,
/// and that starts this rank's workers for it.
struct Agent {
  Hello hello;
  Ends ends;
  Connection connection;
  /// Why it can't be asked for anything any more, and by which name; empty: it can.
  std::string lost = {};

  /// Keeps the first reason for which it was lost.
  void lose(const std::string& why) {
    if (lost.empty()) lost = "the connection to " + hello.host + " was lost: " + why;
  }
};

/// The port of the runner at which agents connect. Any program may connect.
class Listener {
 public:
  /// Listens from now on. Throws Unsupported where the port is taken, or may not be used.
  Listener(const Launch& launch, const Hello& here);

  /// Waits for the agents of all other ranks and gives them in the order of their ranks. `said`
  /// hears of those that were refused. Throws Unsupported where some have not come within
  /// `timeout`.
  std::vector<Agent> accept_all(std::chrono::seconds timeout,
                                const std::function<void(const std::string&)>& said);

 private:
  using Clock = std::chrono::steady_clock;

  /// A connection whose other end has not said yet who it is.
  struct Handshake {
    Connection connection;
    Ends ends;
    Clock::time_point deadline;
    bool is_done = false;
  };

  void wait(Clock::time_point deadline) const;
  void accept_some();
  void shake_hands(Handshake& handshake, const std::function<void(const std::string&)>& said);
  std::string why_refused(const Hello& hello) const;
  std::string missing() const;

  const Launch& launch_;
  const Hello& here_;
  FileDescriptor socket_;
  std::vector<Handshake> handshakes_;
  std::vector<Agent> agents_;
};

/// The agents of all ranks but the runner's own.
class Agents {
 public:
  /// Waits until all have come, on the port that `launch` names. Whoever else comes is sent away;
  /// `said` hears of those that were refused as agents.
  /// Throws Unsupported where a port is taken, or some have not come within `timeout`.
  Agents(const Launch& launch, const Hello& here, std::chrono::seconds timeout,
         const std::function<void(const std::string&)>& said);
  /// Tells all of them that there is nothing more to do.
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  const Launch& launch() const { return launch_; }
  /// The hash of the worker program that all ranks have.
  const std::string& worker() const { return here_.worker; }
  /// The agent of a rank from 1 on.
  Agent& of(std::size_t rank) { return all_.at(rank - 1); }

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
  std::vector<Agent> all_;
};

}  // namespace headroom
