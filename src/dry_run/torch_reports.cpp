// SPDX-License-Identifier: Apache-2.0
// What PyTorch's allocator reports to LibTorch's profiler: after each allocation it tells how much
// it holds. The two functions are LibTorch's (c10/core/Allocator.h); these are found before them,
// take note, and call them. Their symbols, which hold the types of their arguments, are the same in
// PyTorch 2.1 to 2.15.
#include <c10/core/Allocator.h>
#include <dlfcn.h>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/peak_holders.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

/// LibTorch's own function of that symbol; null where it has none.
template <class Function>
Function* original(const char* symbol) {
  void* library = loaded_library("libc10");
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, symbol));
}

}  // namespace
}  // namespace headroom::dry_run

namespace c10 {

C10_EXPORT void reportMemoryUsageToProfiler(void* address, std::int64_t bytes,
                                            std::size_t allocated, std::size_t reserved,
                                            Device device) {
  if (device.is_cuda()) {
    // A block that is given back is another tensor's when it is next written.
    if (bytes < 0) {
      headroom::dry_run::dry_run().known.forget(address, static_cast<std::size_t>(-bytes));
    }
    headroom::dry_run::dry_run().blocks.note(address, bytes);
    headroom::dry_run::note_block(device.index(), address, bytes);
    headroom::dry_run::report_allocator(device.index(), static_cast<std::int64_t>(allocated),
                                        static_cast<std::int64_t>(reserved));
  }
  static auto* const libtorchs = headroom::dry_run::original<decltype(reportMemoryUsageToProfiler)>(
      "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
  if (libtorchs != nullptr) libtorchs(address, bytes, allocated, reserved, device);
}

C10_EXPORT void reportOutOfMemoryToProfiler(std::int64_t bytes, std::size_t allocated,
                                            std::size_t reserved, Device device) {
  if (device.is_cuda()) headroom::dry_run::report_out_of_memory(device.index());
  static auto* const libtorchs = headroom::dry_run::original<decltype(reportOutOfMemoryToProfiler)>(
      "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE");
  if (libtorchs != nullptr) libtorchs(bytes, allocated, reserved, device);
}

}  // namespace c10
