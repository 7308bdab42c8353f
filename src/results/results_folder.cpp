// SPDX-License-Identifier: Apache-2.0
#include "src/results/results_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <system_error>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

constexpr std::size_t kLongestName = 120;
constexpr std::size_t kProbeBytes = 64 * 1024;      // some rows and a record
constexpr std::string_view kProbeName = ".probe-";  // and the number of the process

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-@=,+").find(c) != std::string_view::npos;
}

/// A file name for a rank of a case. Where the case's own name is none, a hash keeps it apart from
/// others.
std::string file_name(const std::string& case_name, std::size_t rank) {
  std::string name = case_name.substr(0, kLongestName);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_safe(c); }, '_');
  if (name != case_name) name += "-" + fingerprint(case_name);
  return rank == 0 ? name : name + ".rank" + std::to_string(rank);
}

[[noreturn]] void refuse_to_overwrite(const std::filesystem::path& path) {
  throw ConfigError(Place{.file = path},
                    "headroom did not make it, and would write over it; choose another folder "
                    "with --out");
}

/// Who made what lies in the folder: throws ConfigError where it was not headroom, and a run would
/// write over it.
void check_is_headrooms(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const bool has_journal = fs::exists(fs::symlink_status(folder / kJournalFile));
  for (const char* file : {kResultsFile, kSuiteFile}) {
    const fs::file_status there = fs::symlink_status(folder / file);
    const bool is_ours = has_journal && fs::is_regular_file(there);
    if (fs::exists(there) && !is_ours) refuse_to_overwrite(folder / file);
  }
  if (has_journal) return;
  for (const char* name : {kLogFolder, kSnapshotFolder}) {
    const fs::path path = folder / name;
    if (fs::exists(path) && !fs::is_empty(path)) refuse_to_overwrite(path);
  }
}

bool is_probe(std::string_view name) {
  return name.starts_with(kProbeName) &&
         name.find_first_not_of("0123456789", kProbeName.size()) == std::string_view::npos;
}

void remove_probes(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_probe(entry.path().filename().string())) unlink(entry.path().c_str());
  }
}

void probe(const std::filesystem::path& folder) {
  const std::string path = folder / std::string(kProbeName).append(std::to_string(getpid()));
  const FileDescriptor file(uninterrupted([&] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  }));
  if (file.get() < 0) throw_errno(path);
  try {
    write_all(file.get(), std::string(kProbeBytes, '\n'), path);
    if (uninterrupted([&] { return fsync(file.get()); }) != 0) throw_errno(path);
  } catch (const std::system_error&) {
    unlink(path.c_str());
    throw;
  }
  if (unlink(path.c_str()) != 0) throw_errno(path);
}

}  // namespace

ResultsFolder::ResultsFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  check_is_headrooms(folder_);
  make_folders(folder_);
}

void ResultsFolder::make_ready() const {
  remove_temporary_files(folder_);
  if (std::filesystem::exists(folder_ / kSnapshotFolder))
    remove_temporary_files(folder_ / kSnapshotFolder);
  remove_probes(folder_);
  probe(folder_);
  make_folders(folder_ / kLogFolder);
}

void ResultsFolder::check_room() const {
  struct statvfs status {};
  if (statvfs(folder_.c_str(), &status) != 0 || status.f_blocks == 0) return;  // it does not say
  if (status.f_bavail * status.f_frsize >= kProbeBytes) return;
  errno = ENOSPC;
  throw_errno(folder_);
}

std::string ResultsFolder::log_path(const std::string& case_name, std::size_t rank) const {
  return folder_ / kLogFolder / (file_name(case_name, rank) + ".log");
}

std::string ResultsFolder::snapshot_path(const std::string& case_name, std::size_t rank) const {
  make_folders(folder_ / kSnapshotFolder);
  return std::filesystem::absolute(folder_ / kSnapshotFolder /
                                   (file_name(case_name, rank) + ".pickle"));
}

FileDescriptor ResultsFolder::open_log(const std::string& case_name, std::size_t rank) const {
  const std::string path = log_path(case_name, rank);
  // O_NONBLOCK: opening a FIFO would wait for a reader.
  FileDescriptor file(uninterrupted([&] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                0644);
  }));
  if (file.get() < 0) throw_errno(path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw_errno(path);
  if (!S_ISREG(status.st_mode)) throw ConfigError(Place{.file = path}, "not a regular file");
  return file;
}

void ResultsFolder::replace(const std::string& file, std::string_view text) const {
  const std::string path = folder_ / file;
  try {
    write_file_atomically(path, text);
  } catch (const std::system_error&) {
    write_file_atomically(path, text);  // a disk may be full for a moment only
  }
}

}  // namespace headroom
