// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace headroom {

/// A program, or a library of one, whose hash stands for it in results: while they are made, it
/// must stay what it was when it was read.
class ProgramFile {
 public:
  /// Reads the file. Throws ConfigError or std::system_error where that can't be done.
  explicit ProgramFile(std::string path);

  const std::string& hash() const { return hash_; }

  /// Looks whether it is still the same file, and reads it again where it is not.
  /// Throws ResultsError where it is another program by now, or gone.
  void check_is_the_same();

 private:
  /// What changes wherever a file is written or replaced.
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    off_t bytes = -1;  // of a file that is not there
    std::int64_t written_ns = 0;

    friend bool operator==(const Identity&, const Identity&) = default;
  };

  Identity identity() const;
  std::string read_hash() const;

  std::string path_;
  Identity identity_;
  std::string hash_;
};

}  // namespace headroom
