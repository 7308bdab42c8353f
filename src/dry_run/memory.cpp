// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

long in_tebibytes(std::uintptr_t bytes) { return static_cast<long>(bytes >> 40); }

/// Of the mapping: the system rounds it to pages, and has none of nothing.
std::size_t mapped_bytes(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

}  // namespace

GpuMemory::GpuMemory(std::int64_t total, std::int64_t context, bool overcommit,
                     std::int64_t addresses)
    : total_(total), context_(context), overcommit_(overcommit) {
  const auto size = static_cast<std::size_t>(addresses);
  void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     /*fd=*/-1, /*offset=*/0);
  if (range == MAP_FAILED) {
    std::fprintf(stderr,
                 "headroom dry run: no %ld TiB of addresses (is there an 'ulimit -v'?): %s\n",
                 in_tebibytes(size), std::strerror(errno));
    std::_Exit(2);
  }
  begin_ = reinterpret_cast<std::uintptr_t>(range);
  end_ = begin_ + size;
  lowest_ = end_ / kGranularity * kGranularity;
}

GpuMemory::~GpuMemory() { munmap(reinterpret_cast<void*>(begin_), end_ - begin_); }

void* GpuMemory::allocate(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!take_locked(bytes)) return nullptr;
  const std::uintptr_t address = next_address(bytes);
  allocations_[address] = bytes;
  return reinterpret_cast<void*>(address);
}

bool GpuMemory::release(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == allocations_.end()) return false;
  used_ -= found->second;
  allocations_.erase(found);
  return true;
}

std::optional<GpuMemory::Allocation> GpuMemory::allocation_of(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  auto found = allocations_.upper_bound(place);
  if (found == allocations_.begin()) return std::nullopt;
  const auto [begin, bytes] = *--found;
  if (place - begin >= static_cast<std::uintptr_t>(bytes)) return std::nullopt;
  return Allocation{begin, bytes};
}

void* GpuMemory::reserve_addresses(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return reinterpret_cast<void*>(next_address(bytes));
}

bool GpuMemory::take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return take_locked(bytes);
}

void GpuMemory::give_back(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

bool GpuMemory::owns(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return number >= begin_ && number < end_;
}

void GpuMemory::make_context() {
  const std::lock_guard lock(mutex_);
  if (has_context_) return;
  has_context_ = true;
  used_ += context_;
  peak_used_ = std::max(peak_used_, used_);
}

std::int64_t GpuMemory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::int64_t GpuMemory::peak_used() const {
  const std::lock_guard lock(mutex_);
  return peak_used_;
}

std::int64_t GpuMemory::refused_bytes() const {
  const std::lock_guard lock(mutex_);
  return refused_bytes_;
}

std::int64_t GpuMemory::free_when_refused() const {
  const std::lock_guard lock(mutex_);
  return free_when_refused_;
}

bool GpuMemory::take_locked(std::int64_t bytes) {
  if (!overcommit_ && used_ + bytes > total_) {
    refused_bytes_ = bytes;
    free_when_refused_ = total_ - used_;
    return false;
  }
  used_ += bytes;
  peak_used_ = std::max(peak_used_, used_);
  return true;
}

std::uintptr_t GpuMemory::next_address(std::int64_t bytes) {
  // One granule stays free between two ranges, as a guard.
  const std::int64_t granules = parts(bytes, kGranularity) + 1;
  const auto size = static_cast<std::uintptr_t>(granules * kGranularity);
  if (size > lowest_ - begin_) {
    std::fprintf(stderr, "headroom dry run: all %ld TiB of device addresses are used up\n",
                 in_tebibytes(end_ - begin_));
    std::abort();
  }
  lowest_ -= size;
  return lowest_;
}

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
