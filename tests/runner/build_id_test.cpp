// SPDX-License-Identifier: Apache-2.0
#include "src/runner/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string_view>
#include <system_error>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// The notes of this program, as the loader has them in memory.
std::string notes_of_this_program() {
  std::string notes;
  const auto take = [](dl_phdr_info* info, std::size_t, void* into) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type != PT_NOTE) continue;
      static_cast<std::string*>(into)->append(
          reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
    }
    return 1;  // the program itself comes first
  };
  dl_iterate_phdr(take, &notes);
  return notes;
}

TEST(BuildId, is_what_the_linker_wrote) {
  const std::string notes = notes_of_this_program();
  const std::string_view before_it("\3\0\0\0GNU\0", 8);
  const std::size_t begin = notes.find(before_it);
  if (begin == std::string::npos) GTEST_SKIP() << "this linker writes none";
  const std::string id = build_id_of("/proc/self/exe");
  EXPECT_GE(id.size(), 8U);
  EXPECT_EQ(notes.substr(begin + before_it.size(), id.size()), id);
}

TEST(BuildId, is_none_where_the_file_is_not_such_a_program) {
  const TemporaryFolder folder;
  const std::string program = read_text("/proc/self/exe");
  for (std::size_t length = 0; length < 3000; length += 7) {
    const std::string id = build_id_of(folder.write("cut", program.substr(0, length)));
    EXPECT_TRUE(id.empty() || id == build_id_of("/proc/self/exe")) << length;
  }
  std::string wide = program.substr(0, 4096);
  wide.replace(offsetof(Elf64_Ehdr, e_phoff), 8, 8, '\xff');  // parts behind the file's end
  EXPECT_EQ(build_id_of(folder.write("wide", wide)), "");
  EXPECT_EQ(build_id_of(folder.write("text", "#!/bin/sh\n")), "");
  EXPECT_THROW(build_id_of(folder / "nothing"), std::system_error);
}

}  // namespace
}  // namespace headroom
