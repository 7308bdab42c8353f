// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

// What tests with the real worker share: they run `headroom` of the build as a user does.
namespace headroom {

/// A new folder, gone with all it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The project's own sources.
std::filesystem::path source(const std::string& name);
std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// Starts `headroom` with these arguments; what it says goes to `output`.
pid_t start_headroom(const std::vector<std::string>& arguments,
                     const std::filesystem::path& output);
/// Its exit code; -1 where a signal ended it.
int wait_for(pid_t pid);

struct Ended {
  int code = -1;
  std::string text;  // standard output and error
};
Ended run_headroom(const std::vector<std::string>& arguments);

/// One row of results.csv: column -> cell.
class Cells {
 public:
  explicit Cells(std::map<std::string, std::string> cells) : cells_(std::move(cells)) {}
  const std::string& text(const std::string& column) const { return cells_.at(column); }
  std::int64_t number(const std::string& column) const { return std::stoll(cells_.at(column)); }
  double real(const std::string& column) const { return std::stod(cells_.at(column)); }
  /// The sum of the eight parts of the peak.
  std::int64_t parts_of_the_peak() const;

 private:
  std::map<std::string, std::string> cells_;
};

/// The rows of a folder's results.csv, in their order.
std::vector<Cells> read_results(const std::filesystem::path& folder);

}  // namespace headroom
