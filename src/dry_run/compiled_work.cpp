// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_work.h"

#include <cstddef>
#include <cstdlib>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

/// A launcher keeps a kernel's arguments side by side in its frame, 8 or 16 bytes each; Inductor
/// gives a kernel no more than 250. What lies further off is none.
constexpr std::ptrdiff_t kMostBytesBetween = 4096;

bool is_argument(const void* candidate, const void* first) {
  return std::abs(static_cast<const char*>(candidate) - static_cast<const char*>(first)) <=
         kMostBytesBetween;
}

}  // namespace

std::int64_t tensor_bytes(void** arguments, const LiveBlocks& blocks) {
  if (arguments == nullptr || arguments[0] == nullptr) return 0;
  std::int64_t bytes = 0;
  for (std::size_t place = 0; is_argument(arguments[place], arguments[0]); ++place) {
    bytes += blocks.behind(at<const void*>(arguments[place]));
    if (bytes == 0) break;
  }
  return bytes;
}

Work compiled_work(const Gpu& gpu, const ptx::Launch& launch, const Parts& parts,
                   const std::optional<ptx::Count>& count) {
  std::int64_t bytes = moved_bytes(gpu, parts, launch.blocks(), launch.threads());
  if (count && count->reached_bytes < static_cast<double>(bytes)) {
    bytes = static_cast<std::int64_t>(count->reached_bytes);
  }
  const std::int64_t threads = launch.blocks() * launch.threads();
  const bool is_spilled = count && !is_kept(gpu, parts.spilled_of_thread * launch.threads(),
                                            launch.blocks(), launch.threads());
  const auto spilled = static_cast<std::int64_t>(is_spilled ? count->spilled_bytes : 0);
  const Access access = spilled > 0 ? Access::numbers : Access::vectors;
  Work work = bytes == 0 ? memory_work(gpu, {kBytesPerThread * threads})
                         : memory_work(gpu, {bytes + spilled}, access);
  if (count) work = side_by_side(work, instruction_work(gpu, *count, launch.blocks()));
  work.is_compiled = true;
  return work;
}

}  // namespace headroom::dry_run
