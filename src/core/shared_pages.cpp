// SPDX-License-Identifier: Apache-2.0
#include "src/core/shared_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace headroom {
namespace {

constexpr std::size_t kSmallest = 1 << 20;
// A process may have 65,530 mappings (vm.max_map_count): 1 TB of these.
constexpr std::size_t kSharedBytes = 16 << 20;

/// The pages; below 0: the system has no such files.
int shared_pages() {
  static const int file = [] {
    const int made = memfd_create("headroom_shared_pages", MFD_CLOEXEC);
    return made >= 0 && ftruncate(made, kSharedBytes) == 0 ? made : -1;
  }();
  return file;
}

}  // namespace

void share_pages(void* address, std::size_t bytes) {
  if (bytes < kSmallest || shared_pages() < 0) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(address) % page;  // of a whole page
  char* const begin = static_cast<char*>(address) + before;
  const std::size_t size = (bytes - before) / page * page;
  for (std::size_t done = 0; done < size; done += kSharedBytes) {
    const void* const laid =
        mmap(begin + done, std::min(kSharedBytes, size - done), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, shared_pages(), 0);
    if (laid == MAP_FAILED) return;
  }
#ifdef MADV_POPULATE_READ
  // Without it, and before Linux 5.14, each page takes a fault of its own, when it is written.
  madvise(begin, size, MADV_POPULATE_READ);
#endif
}

void* map_shared_pages(std::size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address != MAP_FAILED) share_pages(address, bytes);
  return address;
}

}  // namespace headroom
