// SPDX-License-Identifier: Apache-2.0
// The program's own fsync and fdatasync take the place of the C library's.
#include "tests/flushes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace headroom {
namespace {

std::function<void(const std::string&)> told;

int flush(long call, int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (told) told(std::filesystem::read_symlink(link));
  return static_cast<int>(syscall(call, descriptor));
}

}  // namespace

FlushObserver::FlushObserver(std::function<void(const std::string&)> seen) {
  told = std::move(seen);
}
FlushObserver::~FlushObserver() { told = nullptr; }

extern "C" int fsync(int descriptor) { return flush(SYS_fsync, descriptor); }
extern "C" int fdatasync(int descriptor) { return flush(SYS_fdatasync, descriptor); }

}  // namespace headroom
