// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headroom {

/// The worker's end of the conversation with the runner (docs/protocol.md): one JSON object a line
/// on file descriptor 3. A runner that went away ends the worker.
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
