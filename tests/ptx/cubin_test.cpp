// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace headroom::ptx {
namespace {

/// An ELF file with a section of that name beside the names of sections.
std::vector<char> elf_with(const std::string& name, const std::string& content) {
  std::string names("\0names\0", 7);
  names += name + '\0';
  const std::size_t content_begin = sizeof(Elf64_Ehdr) + names.size();
  const std::size_t table = (content_begin + content.size() + 7) / 8 * 8;
  std::vector<char> file(table + 3 * sizeof(Elf64_Shdr));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = table;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), names.data(), names.size());
  std::memcpy(file.data() + content_begin, content.data(), content.size());
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_offset = sizeof(header);
  sections[1].sh_size = names.size();
  sections[2].sh_name = 7;
  sections[2].sh_offset = content_begin;
  sections[2].sh_size = content.size();
  std::memcpy(file.data() + table, &sections, sizeof(sections));
  return file;
}

TEST(Cubin, KeepsItsText) {
  EXPECT_EQ(ptx_of_cubin(elf_with(".nv_debug_ptx_txt", ".version 9.0").data()), ".version 9.0");
}

TEST(Cubin, MayKeepNone) {
  EXPECT_EQ(ptx_of_cubin(elf_with(".debug_line", "lines").data()), "");
  EXPECT_EQ(ptx_of_cubin(""), "");
  EXPECT_EQ(ptx_of_cubin(nullptr), "");
}

}  // namespace
}  // namespace headroom::ptx
