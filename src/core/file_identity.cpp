// SPDX-License-Identifier: Apache-2.0
#include "src/core/file_identity.h"

#include <sys/stat.h>

#include <cerrno>

#include "src/core/file.h"

namespace headroom {
namespace {

FileIdentity identity_of_status(const struct stat& status) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {status.st_dev, status.st_ino, status.st_size,
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return identity_of_status(status);
  for (const int gone : {ENOENT, ENOTDIR, EACCES}) {
    if (errno == gone) return {};
  }
  throw_errno(path);
}

FileIdentity identity_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? identity_of_status(status) : FileIdentity{};
}

}  // namespace headroom
