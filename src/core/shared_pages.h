// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Host memory of a plan. What a case takes on the host is to be counted, and no value of it
// matters: so its buffers share a few pages, which lie in them again and again. The system counts a
// page as resident wherever it lies (VmRSS, VmHWM), as if each were one of its own, but no memory
// is taken, and none has to be cleared: that is most of what the first touch of a page costs.
namespace headroom {

/// Puts shared pages in the place of a buffer's own, all of them resident at once. What is written
/// to the buffer is then read at other places, of this buffer and of others.
///
/// The buffer must lie in a mapping that ends with it: memory of malloc() would go to other hands,
/// still shared. A buffer below 1 MiB stays as it is, and so do all where the system can't.
void share_pages(void* address, std::size_t bytes);

/// A mapping of shared pages, for munmap(). MAP_FAILED where the system has no more addresses.
void* map_shared_pages(std::size_t bytes);

}  // namespace headroom
