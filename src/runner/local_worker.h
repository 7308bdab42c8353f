// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/runner/running_worker.h"

namespace headroom {

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

}  // namespace headroom
