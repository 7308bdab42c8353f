// SPDX-License-Identifier: Apache-2.0
#include "src/results/last_run.h"

#include <string>
#include <system_error>
#include <utility>

#include "src/core/file.h"
#include "src/results/results_folder.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytesOfName = 4096;

bool has_journal(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / kJournalFile, none);
}

/// However it is spelled: with no slash behind it.
fs::path plain(const fs::path& folder) {
  return (fs::absolute(folder) / "").lexically_normal().parent_path();
}

/// The folder that the file names. Empty: it names none of those beside it.
fs::path remembered(const fs::path& runs) {
  const fs::path file = runs / kLastRunFile;
  if (!fs::is_regular_file(file)) return {};
  const fs::path name = read_file(file, kMaxBytesOfName);
  std::error_code none;
  const bool is_beside =
      !name.empty() && name == name.filename() && fs::is_directory(runs / name, none);
  return is_beside ? runs / name : fs::path();
}

}  // namespace

void remember_last_run(const fs::path& folder, const fs::path& runs) {
  const fs::path path = plain(folder);
  if (path.parent_path() != plain(runs)) return;
  write_file_atomically(runs / kLastRunFile, path.filename().string());
}

fs::path last_run(const fs::path& runs) {
  fs::path last = remembered(runs);
  if (!last.empty()) return last;
  fs::file_time_type last_time;
  std::error_code none;  // no such folder: no entries
  for (const auto& entry : fs::directory_iterator(runs, none)) {
    if (!has_journal(entry.path())) continue;
    const auto time = fs::last_write_time(entry.path() / kJournalFile);
    if (last.empty() || std::pair(last_time, last) < std::pair(time, entry.path())) {
      last = entry.path();
      last_time = time;
    }
  }
  return last;
}

}  // namespace headroom
