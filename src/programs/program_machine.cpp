// SPDX-License-Identifier: Apache-2.0
#include "src/programs/program_machine.h"

#include <elf.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

/// What it says of the machine that it is for: bits, and the kind of processor. Empty: it is no
/// program of any, or can't be read.
std::string machine_of(const std::filesystem::path& file) try {
  static_assert(offsetof(Elf64_Ehdr, e_machine) == offsetof(Elf32_Ehdr, e_machine));
  constexpr std::size_t kMachine = offsetof(Elf64_Ehdr, e_machine);
  const std::string start =
      read_file_start(file.string(), kMachine + sizeof(Elf64_Ehdr::e_machine)).bytes;
  if (!start.starts_with(ELFMAG)) return "";
  return start[EI_CLASS] + start.substr(kMachine);
} catch (const ConfigError&) {
  return "";
}

/// Empty: there is none.
std::filesystem::path find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

void check_is_for_this_machine(const std::string& program) {
  const std::string machine = machine_of(find_program(program));
  if (!machine.empty() && machine != machine_of("/proc/self/exe")) {
    throw ConfigError(program + ": it was built for another kind of machine");
  }
}

}  // namespace headroom
