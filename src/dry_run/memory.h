// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace headroom::dry_run {

/// The memory of the device: addresses that nothing lies behind, and a count of bytes. Safe to call
/// from any thread. Sizes and counts in bytes.
///
/// Addresses come out of one range that no real memory shares; to read or write there is a
/// segmentation fault. Each address is handed out once, in falling order, as the driver does: of
/// free blocks of one size PyTorch takes the one with the lowest address, which decides what it can
/// cut later. An H100 reserved to the byte what plans with falling addresses say, where rising ones
/// were up to 15 % too high.
class GpuMemory {
 public:
  static constexpr std::int64_t kGranularity = 2 << 20;  // of the driver: 2 MiB
  // Every pool of PyTorch's expandable segments takes addresses for 9/8 of the device's memory.
  static constexpr std::int64_t kAddresses = std::int64_t{32} << 40;

  /// `total`: what the device has; `context`: what is gone from the first use on; `overcommit`:
  /// never refuse; `addresses`: how many there are.
  GpuMemory(std::int64_t total, std::int64_t context, bool overcommit,
            std::int64_t addresses = kAddresses);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  /// Memory of its own with an address of its own; null where there is not enough.
  void* allocate(std::int64_t bytes);
  /// Gives back what allocate() gave. False: it is no such address.
  bool release(const void* address);

  struct Allocation {
    std::uintptr_t begin;
    std::int64_t bytes;
  };
  /// What allocate() gave and has not got back that holds an address; nothing: none does.
  std::optional<Allocation> allocation_of(const void* address) const;

  /// The two halves of allocate(), for virtual memory: addresses alone, and memory alone.
  void* reserve_addresses(std::int64_t bytes);
  /// False where there is not enough.
  bool take(std::int64_t bytes);
  void give_back(std::int64_t bytes);

  /// Whether an address was handed out by this device, at any time.
  bool owns(const void* address) const;

  /// The context is made at the device's first use and stays.
  void make_context();

  std::int64_t total() const { return total_; }
  std::int64_t used() const;       // context included
  std::int64_t peak_used() const;  // context included
  /// The size of the last request that was refused, and what was free then; 0: none.
  std::int64_t refused_bytes() const;
  std::int64_t free_when_refused() const;

 private:
  bool take_locked(std::int64_t bytes);
  std::uintptr_t next_address(std::int64_t bytes);

  const std::int64_t total_;
  const std::int64_t context_;
  const bool overcommit_;
  mutable std::mutex mutex_;
  std::uintptr_t begin_ = 0;
  std::uintptr_t lowest_ = 0;  // that was handed out
  std::uintptr_t end_ = 0;
  std::map<std::uintptr_t, std::int64_t> allocations_;  // address: bytes
  bool has_context_ = false;
  std::int64_t used_ = 0;
  std::int64_t peak_used_ = 0;
  std::int64_t refused_bytes_ = 0;
  std::int64_t free_when_refused_ = 0;
};

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
