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

/// That of the file at `path` now. Throws std::system_error where the system can't look at it.
FileIdentity identity_of(const std::string& path);
/// That of an open file; of one that could not be opened as of one that is not there.
FileIdentity identity_of(int descriptor);

}  // namespace headroom
