// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/program.h"

// What tests with the real worker share: they run `headroom` of the build as a user does.
namespace headroom {

/// The project's own sources.
std::filesystem::path source(const std::string& name);

Program start_headroom(const std::vector<std::string>& arguments);
Ended run_headroom(const std::vector<std::string>& arguments);

/// One row of results.csv: column -> cell.
class Cells {
 public:
  explicit Cells(std::map<std::string, std::string> cells) : cells_(std::move(cells)) {}
  const std::string& text(const std::string& column) const { return cells_.at(column); }
  std::int64_t number(const std::string& column) const { return std::stoll(cells_.at(column)); }
  const std::map<std::string, std::string>& all() const { return cells_; }
  double real(const std::string& column) const { return std::stod(cells_.at(column)); }
  /// The sum of the eight parts of the peak.
  std::int64_t parts_of_the_peak() const;

 private:
  std::map<std::string, std::string> cells_;
};

/// The rows of a folder's results.csv, in their order.
std::vector<Cells> read_csv_rows(const std::filesystem::path& folder);

}  // namespace headroom
