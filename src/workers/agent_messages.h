// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "src/workers/launcher.h"
#include "src/workers/process.h"

// What the runner and an agent tell each other as JSON: docs/protocol.md, "Across machines". Any
// program may have written what is read here, so a text that is not exactly such a message is none.
namespace headroom {

/// What one of the processes that a launcher started says of itself.
struct Hello {
  std::string program;  // what `headroom --version` prints: those that differ may not understand
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::string host;           // the name of its machine, for people
  std::int64_t cores = 0;     // that it may use
  std::string core_set;       // a hash of which they are
  bool sets_threads = false;  // OMP_NUM_THREADS is set there
  std::string worker;         // a hash of its worker program: rows of two must not be mixed

  friend bool operator==(const Hello&, const Hello&) = default;
};

/// What this process says of itself. `worker`: the hash of its worker program.
Hello hello_of(const Launch& launch, const std::string& program, const std::string& worker);

std::string to_text(const Hello& hello);

/// Gives nothing where the text is no such message, or holds what may not be printed.
std::optional<Hello> read_hello(std::string_view text);

/// What the runner has an agent's worker do.
struct WorkOrder {
  nlohmann::ordered_json request;  // with its nonce
  std::string threads;             // OMP_NUM_THREADS; empty: as it is there
};

std::string to_text(const WorkOrder& order);

/// The order as an agent carries it out; nothing where it is none that an agent carries out. An
/// order is but a measurement, which names no file to be written but the folder of weights of its
/// case. Which rank the worker is, and where the ranks meet, is as the launcher told the agent.
std::optional<WorkOrder> read_order(std::string_view text, const Launch& launch);

/// Says in a request to a worker which rank it is and where the ranks meet, as the launcher said.
void join(nlohmann::ordered_json& request, const Launch& launch);

/// How a worker ended.
struct WorkerEnd {
  ExitStatus exit = {};
  bool killed_for_memory = false;  // by the kernel, as its counter for the cgroup says
  /// Why nobody knows how it ended: the connection to its machine was lost. Empty: it was not.
  std::string lost = {};

  friend bool operator==(const WorkerEnd&, const WorkerEnd&) = default;
};

/// An agent tells how its worker ended without `lost`: only the runner can lose a worker.
std::string to_text(const WorkerEnd& end);

/// Gives nothing where the text is no such message.
std::optional<WorkerEnd> read_worker_end(std::string_view text);

}  // namespace headroom
