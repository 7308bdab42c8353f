// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace headroom::dry_run {

/// The host memory that a program pinned: real memory, and known by its addresses. Safe to call
/// from any thread.
class PinnedMemory {
 public:
  /// A mapping of its own; null where the host has not enough.
  void* allocate(std::int64_t bytes);
  /// Gives back what allocate() gave.
  void release(void* address);

  /// Memory of the program that it pins or unpins.
  void pin(void* address, std::int64_t bytes);
  /// Gives the bytes that were pinned there; nothing: none were.
  std::optional<std::int64_t> unpin(void* address);

  /// Whether the address lies in pinned memory.
  bool owns(const void* address) const;
  std::int64_t peak_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::int64_t> ranges_;  // address: bytes
  std::int64_t bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

}  // namespace headroom::dry_run
