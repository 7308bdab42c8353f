// SPDX-License-Identifier: Apache-2.0
#include "src/core/mapped_file.h"

#include <sys/mman.h>

#include "src/core/file.h"

namespace headroom {

MappedFile::MappedFile(const std::string& path) {
  const OpenFile file = open_regular_file(path);
  size_ = static_cast<std::size_t>(file.size);
  if (size_ == 0) return;  // which can't be mapped
  void* pages = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
  if (pages == MAP_FAILED) throw_errno(path + ": can't map");
  pages_ = {static_cast<const std::uint8_t*>(pages), [size = size_](const std::uint8_t* mapped) {
              ::munmap(const_cast<std::uint8_t*>(mapped), size);
            }};
}

}  // namespace headroom
