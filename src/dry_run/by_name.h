// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace headroom::dry_run {

/// What was found for the mangled name of each kernel that ran: a search goes through all of it.
/// Safe to call from any thread.
template <class Found>
class ByName {
 public:
  explicit ByName(Found (*find)(std::string_view name)) : find_(find) {}

  const Found& operator()(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = found_.try_emplace(std::string(name));
    if (is_new) place->second = find_(name);
    return place->second;
  }

 private:
  Found (*const find_)(std::string_view name);
  std::mutex mutex_;
  std::unordered_map<std::string, Found> found_;  // whose elements stay where they are
};

}  // namespace headroom::dry_run
