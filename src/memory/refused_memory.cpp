// SPDX-License-Identifier: Apache-2.0
#include "src/memory/refused_memory.h"

#include <cstdint>
#include <mutex>

#include "src/core/text.h"

#ifdef HEADROOM_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/version.h>

#include <algorithm>
#endif

namespace headroom {
namespace {

/// The last refusal. Any thread may meet with one.
struct Refusal {
  std::mutex mutex;
  std::int64_t free_bytes = 0;
  std::int64_t pieces = 0;
  std::int64_t largest_bytes = 0;
};

Refusal& last_refusal() {
  static Refusal refusal;
  return refusal;
}

}  // namespace

#ifdef HEADROOM_CUDA

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

/// LibTorch 2.10 gives what was traced as well.
auto snapshot_of_all() {
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 11
  return allocator::snapshot({0, 0});
#else
  return allocator::snapshot({0, 0}, /*include_traces=*/false);
#endif
}

/// Called without the allocator's lock.
void note_free_pieces(std::int64_t device) {
  Refusal& refusal = last_refusal();
  const std::scoped_lock lock(refusal.mutex);
  refusal.free_bytes = refusal.pieces = refusal.largest_bytes = 0;
  for (const auto& segment : snapshot_of_all().segments) {
    if (segment.device != device) continue;
    for (const auto& block : segment.blocks) {
      if (block.active) continue;
      const auto bytes = static_cast<std::int64_t>(block.size);
      refusal.free_bytes += bytes;
      ++refusal.pieces;
      refusal.largest_bytes = std::max(refusal.largest_bytes, bytes);
    }
  }
}

}  // namespace

void follow_refused_memory() {
  allocator::attachOutOfMemoryObserver([](std::int64_t device, std::size_t /*asked*/,
                                          std::size_t /*total*/,
                                          std::size_t /*free*/) { note_free_pieces(device); });
}

#else

void follow_refused_memory() {}

#endif

std::string free_when_refused() {
  Refusal& refusal = last_refusal();
  const std::scoped_lock lock(refusal.mutex);
  if (refusal.pieces == 0) return "";
  return " Free in reserved segments: " + format_bytes(refusal.free_bytes) + " in " +
         std::to_string(refusal.pieces) + " pieces, the largest of " +
         format_bytes(refusal.largest_bytes) + ".";
}

}  // namespace headroom
