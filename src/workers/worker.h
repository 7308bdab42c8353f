// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "src/workers/agent_messages.h"
#include "src/workers/process.h"

namespace headroom {

struct Agent;
struct Frame;

/// A worker from its start to its end, on this machine or at an agent. Nothing here waits.
class RunningWorker {
 public:
  virtual ~RunningWorker() = default;

  /// What to poll for.
  virtual std::array<pollfd, 3> awaited() const = 0;
  /// What has come of its messages, and of what it printed, since the last call: at most so much
  /// that no worker keeps the others waiting. Empty: nothing for now. Valid until the next call.
  virtual std::string_view read_messages() = 0;
  virtual std::string_view read_output() = 0;
  /// How it ended; nothing while it runs. What it said last may still have to be read.
  virtual std::optional<WorkerEnd> try_wait() = 0;
  /// Sends a signal to the worker and all it started.
  virtual void send(int signal) = 0;
  /// Gives up a worker that SIGKILL did not end. Its number, where it is a process of this machine.
  virtual std::optional<pid_t> give_up() = 0;
};

/// A worker on this machine.
class LocalWorker final : public RunningWorker {
 public:
  /// Starts the program, which reads `request`. Throws std::system_error where it can't be started.
  LocalWorker(const std::string& program, const std::string& request,
              const Environment& environment);

  std::array<pollfd, 3> awaited() const override;
  std::string_view read_messages() override { return read_some(process_.messages(), messages_); }
  std::string_view read_output() override { return read_some(process_.output(), output_); }
  std::optional<WorkerEnd> try_wait() override;
  void send(int signal) override { process_.send(signal); }
  std::optional<pid_t> give_up() override { return process_.give_up(); }
  /// As Process::end().
  std::optional<pid_t> end() { return process_.end(); }

 private:
  static constexpr std::size_t kReadBytes = 64 * 1024;

  /// What was read last of one of its pipes.
  struct Read {
    std::array<char, kReadBytes> bytes;
    bool is_open = true;
  };

  static std::string_view read_some(int pipe, Read& into);

  std::optional<std::int64_t> oom_kills_;  // before it started
  Process process_;
  Read messages_;
  Read output_;
};

/// A worker that an agent starts. Reading its messages throws ResultsError where the agent's worker
/// is not the program any more that the run began with.
class RemoteWorker final : public RunningWorker {
 public:
  /// Has the agent start its own worker, which reads `request`; of `environment` it takes
  /// OMP_NUM_THREADS alone. `agent` outlives this.
  RemoteWorker(Agent& agent, const nlohmann::ordered_json& request, const Environment& environment);
  /// An agent whose worker has not ended is lost.
  ~RemoteWorker() override;
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  std::array<pollfd, 3> awaited() const override;
  std::string_view read_messages() override;
  std::string_view read_output() override;
  std::optional<WorkerEnd> try_wait() override;
  void send(int signal) override;
  std::optional<pid_t> give_up() override { return std::nullopt; }

 private:
  /// Takes in all that has come. Called by read_messages() alone, so that nothing lies here while
  /// others are polled.
  void take_in();
  void take(const Frame& frame);

  Agent& agent_;
  std::string messages_;  // that have come, and were not read
  std::string output_;
  std::string read_messages_;  // what was handed out last
  std::string read_output_;
  std::optional<WorkerEnd> end_;
};

}  // namespace headroom
