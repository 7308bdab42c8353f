// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headroom::dry_run {

/// Memory of the host that a device's zeros are copied to. No page is written that holds nothing
/// else: one that nobody wrote to takes no memory, and a program may move a whole model there.
inline void set_to_zero(void* to, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  static constexpr std::array<unsigned char, kPage> kZeros{};
  auto* at = static_cast<unsigned char*>(to);
  while (size > 0) {
    const std::size_t left_of_page = kPage - reinterpret_cast<std::uintptr_t>(at) % kPage;
    const std::size_t count = std::min(size, left_of_page);
    if (std::memcmp(at, kZeros.data(), count) != 0) std::memset(at, 0, count);
    at += count;
    size -= count;
  }
}

}  // namespace headroom::dry_run
