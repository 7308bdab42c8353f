// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace headroom {

/// Passes on what a worker prints, up to 1 MiB; says once where it stopped.
class BoundedLog {
 public:
  /// Writes to `descriptor`, which stays the caller's.
  explicit BoundedLog(int descriptor) : descriptor_(descriptor) {}

  /// A log that can't be written (a full disk) must not cost the measurement: errors are ignored.
  void append(std::string_view text);

 private:
  static constexpr std::size_t kMostBytes = 1024 * 1024;

  int descriptor_;
  std::size_t written_ = 0;
  bool stopped_ = false;
};

}  // namespace headroom
