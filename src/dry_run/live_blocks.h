// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace headroom::dry_run {

/// What PyTorch's allocator has handed out and not got back: how far it is from an address to the
/// end of the tensor that it lies in tells what a kernel moves. Safe to call from any thread.
class LiveBlocks {
 public:
  /// `bytes` were handed out at the address (above 0), or came back (below).
  void note(const void* address, std::int64_t bytes);
  /// Bytes to the end of the block; 0: the address lies in none.
  std::int64_t behind(const void* address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::int64_t> bytes_;  // by where they begin
};

}  // namespace headroom::dry_run
