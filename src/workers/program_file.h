// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/file_identity.h"

namespace headroom {

/// A program, or a library of one, whose hash stands for it in results: while they are made, it
/// must stay what it was when it was read.
class ProgramFile {
 public:
  /// Reads the file. Throws ConfigError or std::system_error where that can't be done.
  explicit ProgramFile(std::string path);

  const std::string& path() const { return path_; }
  const std::string& hash() const { return hash_; }

  /// Looks whether it is still the same file, and reads it again where it is not.
  /// Throws ResultsError where it is another program by now, or gone.
  void check_is_the_same();

 private:
  std::string read_hash() const;

  std::string path_;
  FileIdentity identity_;
  std::string hash_;
};

}  // namespace headroom
