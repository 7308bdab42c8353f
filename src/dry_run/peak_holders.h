// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What holds the peak of a program of PyTorch: where the settings ask for it, a script is run in
// its interpreter (peak_holders.py), which has PyTorch record the lines that allocate.
namespace headroom::dry_run {

/// Keeps in mind what PyTorch's allocator handed out (above 0) or got back (below), on a device by
/// its index.
void note_block(int device, const void* address, std::int64_t bytes);

}  // namespace headroom::dry_run
