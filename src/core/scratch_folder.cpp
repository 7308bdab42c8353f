// SPDX-License-Identifier: Apache-2.0
#include "src/core/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

constexpr std::string_view kScratchName = "headroom-scratch-XXXXXX";  // mkdtemp fills in the X
constexpr std::string_view kScratchPrefix = kScratchName.substr(0, kScratchName.find('X'));

FileDescriptor open_folder(const std::filesystem::path& path) {
  return FileDescriptor(uninterrupted(
      [&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
}

/// Removes the scratch folders of this user whose owners are gone: nobody holds their locks.
void remove_left_behind(const std::filesystem::path& parent) {
  std::error_code ignored;  // what is left is only litter
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kScratchPrefix) || name.size() != kScratchName.size()) continue;
    const FileDescriptor folder = open_folder(entry.path());
    struct stat status {};
    if (fstat(folder.get(), &status) != 0 || status.st_uid != geteuid()) continue;
    if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) throw std::system_error(error, "the folder that TMPDIR names");
  remove_left_behind(parent);
  // Until it is locked, another process may take the new folder for one that was left behind.
  do {
    std::string name = parent / kScratchName;
    if (mkdtemp(name.data()) == nullptr) throw_errno(name);
    path_ = name;
    lock_ = open_folder(path_);
    if (lock_.get() < 0 && errno != ENOENT) {
      const int reason = errno;
      rmdir(name.c_str());
      throw std::system_error(reason, std::generic_category(), name);
    }
    // Where the file system has no locks, nobody gets one and removes the folder.
    uninterrupted([&] { return flock(lock_.get(), LOCK_EX); });
  } while (!std::filesystem::exists(path_));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what is left is only litter
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace headroom
