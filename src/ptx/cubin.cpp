// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/cubin.h"

#include <elf.h>

#include <cstring>

namespace headroom::ptx {

std::string_view ptx_of_cubin(const void* image) {
  const auto* begin = static_cast<const char*>(image);
  if (begin == nullptr || std::strncmp(begin, ELFMAG, SELFMAG) != 0) return {};
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum) return {};
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(begin + header->e_shoff);
  const char* names = begin + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (std::strcmp(names + section.sh_name, ".nv_debug_ptx_txt") != 0) continue;
    if ((section.sh_flags & SHF_COMPRESSED) != 0) return {};
    return {begin + section.sh_offset, section.sh_size};
  }
  return {};
}

}  // namespace headroom::ptx
