// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace headroom::dry_run {

/// What PyTorch's caching allocator counted, in the program that the dry run was loaded into.
struct TorchAllocator {
  std::string version;    // of the program's LibTorch; empty: it has none
  bool is_known = false;  // it is the version that the dry run was built with
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t out_of_memory_errors = 0;
};

/// Asks the program's LibTorch for its version, which it can't tell any more when the program ends.
void remember_torch_version();

/// Asks the allocator of device 0. It has no C interface, so it is asked through LibTorch's own
/// header, and only where the program's LibTorch is the version of that header.
TorchAllocator read_torch_allocator();

}  // namespace headroom::dry_run
