// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <array>
#include <string_view>

namespace headroom::dry_run {

/// Whether the name of this thread begins so, as PyTorch names its own since 2.4.
inline bool is_thread_named(std::string_view begin) {
  std::array<char, 16> name{};  // as long as Linux allows
  return pthread_getname_np(pthread_self(), name.data(), name.size()) == 0 &&
         std::string_view(name.data()).starts_with(begin);
}

}  // namespace headroom::dry_run
