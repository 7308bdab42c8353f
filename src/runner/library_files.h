// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "src/core/file_identity.h"

namespace headroom {

/// The libraries that a program is linked with, LibTorch's and CUDA's among them, as the dynamic
/// loader finds them. While results are made they must stay what they were. They are gigabytes, so
/// that not all of their bytes are read. What a library loads by itself later on (kernels of cuDNN)
/// is not among them, and nor is what LD_PRELOAD names.
class LibraryFiles {
 public:
  /// Asks the loader, which runs no program that it loads when it is asked. Where the program has
  /// none (it is linked statically) it is started, and finds an empty request; of a script the
  /// libraries are those of its shell. Throws std::system_error where it can't be started,
  /// Unsupported where the loader is killed again and again.
  explicit LibraryFiles(const std::string& program);

  /// Of their names, sizes and build ids, or first MiB where the linker made no build id: other
  /// copies of the same files have the same. Empty: there are none.
  const std::string& hash() const { return hash_; }

  /// Throws ResultsError that names a library which is another file by now, or gone.
  void check_are_the_same() const;

 private:
  std::map<std::string, FileIdentity> files_;  // by their paths
  std::string hash_;
};

}  // namespace headroom
