// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/runner/deputy.h"
#include "src/runner/running_worker.h"

namespace headroom {

/// The worker of a deputy.
class RemoteWorker final : public RunningWorker {
 public:
  /// Has the deputy start its own worker, which reads `request`; of `environment` it takes
  /// OMP_NUM_THREADS alone. `deputy` outlives this.
  RemoteWorker(Deputy& deputy, const nlohmann::ordered_json& request,
               const Environment& environment);
  /// A deputy whose worker has not ended is lost.
  ~RemoteWorker() override;
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  std::array<pollfd, 3> awaited() const override;
  std::string_view read_messages() override;
  std::string_view read_output() override;
  std::optional<WorkerEnd> try_wait() override;
  void send(int signal) override;

 private:
  /// All that has come: by read_messages() alone, so that nothing lies here while others are
  /// polled.
  void take_in();
  void take(const Frame& frame);

  Deputy& deputy_;
  std::string messages_;  // that have come, and were not read
  std::string output_;
  std::string read_messages_;  // what was handed out last
  std::string read_output_;
  std::optional<WorkerEnd> end_;
};

}  // namespace headroom
