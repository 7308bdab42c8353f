// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/pinned_memory.h"

#include <algorithm>
#include <cstdlib>

namespace headroom::dry_run {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

void* PinnedMemory::allocate(std::int64_t bytes) {
  const auto pages = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage;
  void* address = std::aligned_alloc(kPage, pages * kPage);
  if (address != nullptr) pin(address, bytes);
  return address;
}

void PinnedMemory::release(void* address) {
  unpin(address);
  std::free(address);
}

void PinnedMemory::pin(void* address, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<std::uintptr_t>(address)] = bytes;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
}

void PinnedMemory::unpin(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == ranges_.end()) return;
  bytes_ -= found->second;
  ranges_.erase(found);
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
