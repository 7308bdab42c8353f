// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "models/table.h"
#include "src/worker/case.h"

// The worker's end of the conversation with the runner (docs/protocol.md): what it is asked, and
// what it says.
namespace headroom {

/// A request to measure a case.
struct MeasureRequest {
  WorkerCase worker_case;  // its recipe knows the device, this rank, and whether it computes
  std::string snapshot;    // where to write what CUDA's allocator did; empty: nowhere
};

/// Reads a request to measure. Throws as read_case() does, std::runtime_error where it is to be
/// planned and no dry run is loaded, and Unsupported where this build or
/// machine lacks the device that the case, or this rank of it, is to have.
MeasureRequest read_measure_request(const nlohmann::ordered_json& request);

/// The device that a request names. Throws Unsupported where this build or machine lacks it.
at::Device device_of(const nlohmann::ordered_json& request);

/// The model that a request names. Throws ConfigError where it is not as the catalog describes it.
ModelOptions model_of(const nlohmann::ordered_json& request);

/// Sends messages to the runner, one JSON object a line, on file descriptor 3. Throws
/// std::system_error where the runner went away, which ends the worker.
class Messages {
 public:
  explicit Messages(std::string nonce) : nonce_(std::move(nonce)) {}

  void progress(std::string_view phase, long step = 0, long steps = 0) const;
  void record(const nlohmann::ordered_json& record) const;

 private:
  void send(nlohmann::ordered_json message) const;

  std::string nonce_;
};

}  // namespace headroom
