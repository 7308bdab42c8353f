// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

// Three kinds of error, by who must act. Everything that is none of these is a fault of ours or of
// a library. Each program has one place that catches.
namespace headroom {

/// A position in a text that a user wrote. Lines and columns count from 1; line 0: no position.
struct Place {
  std::string file;  // as the user named it, or "--set" and the like
  int line = 0;
  int column = 0;

  /// "file:line:column", or "file" where there is no position.
  std::string text() const {
    if (line == 0) return file;
    return file + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
};

/// The user must act: a suite file, an option or an input file is wrong. Exit code 2.
/// `what()` starts with the place, then says what is wrong and what is allowed there.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(const Place& place, const std::string& message)
      : std::runtime_error(place.text() + ": " + message) {}
  explicit ConfigError(const std::string& message) : std::runtime_error(message) {}
};

/// The machine, or this build, lacks what was asked for. A case ends as `unsupported`; a command
/// ends with exit code 4.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Results that were written earlier can't be used: damaged, or of another suite. Exit code 3.
class ResultsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace headroom
