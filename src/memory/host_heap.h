// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

/// Has glibc keep the pages of freed blocks below 32 MiB, as a caching allocator does on a GPU.
/// By default it returns them where the last block of the heap is free. Whether that is so in a
/// step hangs on what else lies there, down to the length of a path: two builds of the same source
/// differed by 20 %. Larger blocks go back to the system at once, always. Does nothing where the C
/// library is another one.
void keep_freed_pages();

}  // namespace headroom
