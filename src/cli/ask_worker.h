// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

namespace headroom {

/// A worker that was asked something gave no answer. The command ends with `exit_code`: 1, or 130
/// where the user interrupted it.
class NoAnswer : public std::runtime_error {
 public:
  NoAnswer(int code, const std::string& message) : std::runtime_error(message), exit_code(code) {}
  int exit_code;
};

/// The worker: the program that HEADROOM_WORKER names, or headroom-worker beside this one.
/// Throws Unsupported where it can't be run, or where an installed one lacks its LibTorch.
std::string worker_path();

/// Asks a worker something other than a measurement, and gives its "result". What the worker prints
/// goes to standard error.
/// Throws Unsupported where the worker says so or memory runs out, NoAnswer where it fails.
nlohmann::ordered_json ask_worker(const nlohmann::ordered_json& request);

}  // namespace headroom
