// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace headroom {

/// While it lives, `seen` is told of each fsync and fdatasync of this program, by the path of the
/// file or folder, before it happens. For programs that are built with flushes.cpp.
class FlushObserver {
 public:
  explicit FlushObserver(std::function<void(const std::string& path)> seen);
  ~FlushObserver();
  FlushObserver(const FlushObserver&) = delete;
  FlushObserver& operator=(const FlushObserver&) = delete;
};

}  // namespace headroom
