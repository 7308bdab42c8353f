// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "src/core/file.h"

namespace headroom {

/// A folder below TMPDIR (or /tmp) that goes with its owner. Where the owner was killed, the next
/// one of the same user removes it.
class ScratchFolder {
 public:
  /// Throws std::system_error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  // on the folder, for as long as its owner lives
};

}  // namespace headroom
