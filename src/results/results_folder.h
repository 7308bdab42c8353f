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
  /// Makes the folder where it is missing, and tries that files can be written there.
  /// Throws std::system_error that names what can't be written.
  explicit ResultsFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return folder_; }
  std::string journal() const { return folder_ / kJournalFile; }
  std::string log_path(const std::string& case_name, std::size_t rank = 0) const;
  std::string snapshot_path(const std::string& case_name, std::size_t rank = 0) const;  // absolute

  /// An empty log of that case, to write.
  FileDescriptor open_log(const std::string& case_name, std::size_t rank = 0) const;
  /// Replaces a file of the folder. Tries twice, then throws std::system_error that names it.
  void replace(const std::string& file, std::string_view text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace headroom
