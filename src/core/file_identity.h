// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace headroom {

/// What changes wherever a file is written or replaced, unless somebody sets its time back.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  off_t bytes = -1;  // of a file that is not there
  std::int64_t written_ns = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// That of the file at `path` now, or of an open one. Throws std::system_error where the system
/// can't tell.
FileIdentity identity_of(const std::string& path);
FileIdentity identity_of(int descriptor);

}  // namespace headroom
