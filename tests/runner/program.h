// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/core/csv.h"

// What tests of the whole program share: they run it as a user does, with the test worker.
namespace headroom {

/// A new folder, gone with all it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::filesystem::path& path);

/// How a program ended, and what it said.
struct Ended {
  int code = -1;  // -1: by the signal
  int signal = 0;
  std::string out;
  std::string err;
};

/// A `headroom` that runs, with the test catalog and the test worker.
class Program {
 public:
  /// `prepare` runs in the child before the program starts.
  explicit Program(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {});
  pid_t pid() const { return pid_; }
  void send(int signal) const;
  Ended wait();

 private:
  TemporaryFolder folder_;
  pid_t pid_;
};

Ended run_program(
    const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {});

/// Numbers of the processes whose parent that is.
std::vector<pid_t> children_of(pid_t parent);

/// A row as column -> cell, by the case's name.
using Rows = std::map<std::string, std::map<std::string, std::string>>;
Rows read_rows(const std::filesystem::path& folder);

/// results.csv without what differs from run to run.
Rows lasting_rows(const std::filesystem::path& folder);

/// A suite with one case for each name; a name is that of a behaviour of the test worker.
std::string suite_of(const std::vector<std::string>& behaviours, const std::string& limits);

}  // namespace headroom
