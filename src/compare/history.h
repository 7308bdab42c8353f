// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/time_gate.h"

struct sqlite3;

namespace headroom {

/// A case on a night.
struct NightlyCase {
  std::string suite;
  std::string name;
  /// What it was measured on: nights on another machine are another history.
  std::string machine;
  Light light = Light::green;
  std::optional<double> ratio = {};  // of the new step time to the old one
  std::string reason = {};
};

/// The nights so far, in one SQLite file: a table `nights` of the cases of each, which any tool
/// reads. Throws std::system_error where the file can't be read or written, ResultsError where it
/// is no history.
class History {
 public:
  explicit History(const std::string& path);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  /// In a row, up to the last night.
  int yellow_nights(const NightlyCase& like) const;
  /// A night that begins at `started_at` (UTC, ISO 8601): all its cases, or none where it can't.
  void add(const std::string& started_at, const std::string& old_commit,
           const std::string& new_commit, const std::vector<NightlyCase>& cases);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace headroom
