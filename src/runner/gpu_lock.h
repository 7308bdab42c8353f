// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/file.h"

namespace headroom {

/// A GPU of this machine that one run measures on. It is a lock on a file in /dev/shm, which all
/// users of a machine share and a container mostly has for itself; it goes with this process,
/// however that ends, and the file stays.
class GpuLock {
 public:
  /// Throws Unsupported, with the number of the process, where another run holds it. Where there is
  /// no such folder, or the file is not ours to read, nothing is locked.
  explicit GpuLock(const std::string& uuid);

 private:
  FileDescriptor file_;
};

}  // namespace headroom
