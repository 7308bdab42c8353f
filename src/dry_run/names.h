// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace headroom::dry_run {

/// Names, each once, in the order in which they came. Safe to call from any thread.
class Names {
 public:
  /// False: it is there already.
  bool add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (std::find(list_.begin(), list_.end(), name) != list_.end()) return false;
    list_.push_back(name);
    return true;
  }

  /// By ", ".
  std::string joined() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& name : list_) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> list_;
};

}  // namespace headroom::dry_run
