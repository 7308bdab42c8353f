// SPDX-License-Identifier: Apache-2.0
#include "src/runner/gpu_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "src/core/checksum.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr mode_t kForAll = 0644;  // whoever may read a file may lock it

FileDescriptor open_shared(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  // Another user's file may not be opened with O_CREAT in a folder that all may write.
  FileDescriptor file(uninterrupted([&] { return open(path.c_str(), kFlags); }));
  if (file.get() >= 0) return file;
  file =
      FileDescriptor(uninterrupted([&] { return open(path.c_str(), kFlags | O_CREAT, kForAll); }));
  if (file.get() >= 0) fchmod(file.get(), kForAll);  // whatever the umask is
  return file;
}

/// Who holds the lock of a file, as "process 1234"; a process that can't be seen from here, in
/// another container, has no number.
std::string holder_of(int file) {
  struct stat status {};
  fstat(file, &status);
  const std::string inode = to_hex(major(status.st_dev), 2) + ":" +
                            to_hex(minor(status.st_dev), 2) + ":" + std::to_string(status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, how, access, process, where;
    words >> number >> kind >> how >> access >> process >> where;
    if (kind == "FLOCK" && where == inode) return "process " + process;
  }
  return "a process that can't be seen from here";
}

}  // namespace

GpuLock::GpuLock(const std::string& uuid) : file_(open_shared("/dev/shm/headroom-" + uuid)) {
  if (file_.get() < 0) return;
  if (lock_within(file_.get(), kLockPatience) || errno != EWOULDBLOCK) return;
  throw Unsupported("another run of headroom measures on the GPU " + uuid + " (" +
                    holder_of(file_.get()) + ")");
}

}  // namespace headroom
