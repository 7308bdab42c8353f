// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/runner/worker_call.h"

namespace headroom {

/// The messages of one worker, read strictly. It may be any program, so nothing is taken on trust.
class WorkerMessages {
 public:
  WorkerMessages(std::string nonce, std::function<void(const WorkerProgress&)> on_progress)
      : nonce_(std::move(nonce)), on_progress_(std::move(on_progress)) {}

  /// Takes more bytes of the pipe. After the first fault nothing more is read.
  void take(std::string_view bytes);

  const nlohmann::ordered_json& record() const { return record_; }  // null: none so far
  const WorkerProgress& last() const { return last_; }
  const std::string& fault() const { return fault_; }  // empty: all is well

 private:
  void take_line(std::string_view line);
  void take_message(const nlohmann::ordered_json& message);

  std::string nonce_;
  std::function<void(const WorkerProgress&)> on_progress_;
  std::string unread_;  // the beginning of a line
  nlohmann::ordered_json record_;
  WorkerProgress last_;
  std::string fault_;
};

}  // namespace headroom
