// SPDX-License-Identifier: Apache-2.0
#include "src/memory/host_heap.h"

#include <malloc.h>

namespace headroom {

void keep_freed_pages() {
#ifdef __GLIBC__
  // The most that glibc takes, and where its own adaptation would end.
  constexpr int kLargestInHeap = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, -1);  // never
#endif
}

}  // namespace headroom
