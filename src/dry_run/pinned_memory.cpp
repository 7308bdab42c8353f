// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/pinned_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace headroom::dry_run {
namespace {

/// Of the mapping: the system rounds it to pages, and has none of nothing.
std::size_t mapped_bytes(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

}  // namespace

void* PinnedMemory::allocate(std::int64_t bytes) {
  void* address = mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  pin(address, bytes);
  return address;
}

void PinnedMemory::release(void* address) {
  const auto bytes = unpin(address);
  if (bytes) munmap(address, mapped_bytes(*bytes));
}

void PinnedMemory::pin(void* address, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<std::uintptr_t>(address)] = bytes;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
}

std::optional<std::int64_t> PinnedMemory::unpin(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == ranges_.end()) return std::nullopt;
  const std::int64_t bytes = found->second;
  bytes_ -= bytes;
  ranges_.erase(found);
  return bytes;
}

bool PinnedMemory::owns(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto after = ranges_.upper_bound(number);
  if (after == ranges_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return number < begin + static_cast<std::uintptr_t>(bytes);
}

std::int64_t PinnedMemory::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

}  // namespace headroom::dry_run
