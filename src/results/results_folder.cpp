// SPDX-License-Identifier: Apache-2.0
#include "src/results/results_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "src/core/checksum.h"
#include "src/core/file.h"

namespace headroom {
namespace {

constexpr std::size_t kLongestName = 120;
constexpr std::size_t kProbeBytes = 64 * 1024;  // some rows and a record

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

void probe(const std::filesystem::path& folder) {
  const std::string path = folder / (".probe-" + std::to_string(getpid()));
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) throw_errno(path);
  try {
    write_all(file.get(), std::string(kProbeBytes, '\n'), path);
    if (fsync(file.get()) != 0) throw_errno(path);
  } catch (const std::system_error&) {
    unlink(path.c_str());
    throw;
  }
  if (unlink(path.c_str()) != 0) throw_errno(path);
}

}  // namespace

ResultsFolder::ResultsFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_ / "log");
  probe(folder_);
}

std::string ResultsFolder::log_path(const std::string& case_name, std::size_t rank) const {
  return folder_ / "log" / (file_name(case_name, rank) + ".log");
}

std::string ResultsFolder::snapshot_path(const std::string& case_name, std::size_t rank) const {
  std::filesystem::create_directories(folder_ / "snapshot");
  return std::filesystem::absolute(folder_ / "snapshot" / (file_name(case_name, rank) + ".pickle"));
}

FileDescriptor ResultsFolder::open_log(const std::string& case_name, std::size_t rank) const {
  const std::string path = log_path(case_name, rank);
  FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.get() < 0) throw_errno(path);
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
