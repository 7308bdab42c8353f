// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "src/core/file.h"

namespace headroom {

inline constexpr const char* kJournalFile = "journal.jsonl";
inline constexpr const char* kResultsFile = "results.csv";
inline constexpr const char* kSuiteFile = "suite.yaml";
inline constexpr const char* kLogFolder = "log";
inline constexpr const char* kSnapshotFolder = "snapshot";

/// Where the results of one suite lie:
///
///     journal.jsonl    what was measured; the other files are derived from it or explain it
///     results.csv      one row a case
///     suite.yaml       the suite in effect
///     log/CASE.log     what the worker of a case printed
///     snapshot/CASE.pickle
///                      where it was asked for: what the allocator did, for memory_viz
///
/// Rank 1 of a case has CASE.rank1.log and CASE.rank1.pickle, and so on.
class ResultsFolder {
 public:
  /// Makes the folder where it is missing. Throws ConfigError, before it writes anything, where one
  /// of the files above is there and headroom did not make it: there is no journal beside it, or it
  /// is no regular file. Throws std::system_error that names what can't be written.
  explicit ResultsFolder(std::filesystem::path folder);

  /// Removes what a run that was killed left half written, and tries that files can be written. For
  /// who holds the journal. Throws std::system_error that names what can't be written.
  void make_ready() const;

  /// Looks whether there is room for another case's row and record: what was measured for hours
  /// would be lost. Throws std::system_error that names the folder where there is not.
  void check_room() const;

  const std::filesystem::path& path() const { return folder_; }
  std::string journal() const { return folder_ / kJournalFile; }
  std::string log_path(const std::string& case_name, std::size_t rank = 0) const;
  std::string snapshot_path(const std::string& case_name, std::size_t rank = 0) const;  // absolute

  /// An empty log of that case, to write. Throws std::system_error that names it where it can't be
  /// written, ConfigError where what stands there is no regular file.
  FileDescriptor open_log(const std::string& case_name, std::size_t rank = 0) const;
  /// Replaces a file of the folder. Tries twice, then throws std::system_error that names it.
  void replace(const std::string& file, std::string_view text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace headroom
