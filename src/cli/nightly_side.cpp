// SPDX-License-Identifier: Apache-2.0
#include "src/cli/nightly_side.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "src/core/error.h"
#include "src/workers/process.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

/// That the loader looks there first.
Environment over_libtorch(const fs::path& libraries) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  std::string path = libraries;
  if (before != nullptr && *before != '\0') path += ":" + std::string(before);
  return {{"LD_LIBRARY_PATH", path}};
}

}  // namespace

NightlySide side_of(const std::string& folder, const std::string& given) {
  const fs::path path = fs::absolute(given);
  if (is_program(path)) return {.folder = folder, .program = path, .environment = {}};
  if (is_program(path / "headroom")) {
    return {.folder = folder, .program = path / "headroom", .environment = {}};
  }
  if (fs::is_regular_file(path / "lib/libtorch_cpu.so")) {
    return {.folder = folder,
            .program = fs::read_symlink("/proc/self/exe"),
            .environment = over_libtorch(path / "lib"),
            .is_libtorch = true};
  }
  throw ConfigError(Place{.file = given},
                    "no side of a night; allowed is a headroom, a folder that holds one, or a "
                    "LibTorch (a folder with lib/libtorch_cpu.so)");
}

int run_side(const NightlySide& side, const std::vector<std::string>& arguments,
             Interrupts& interrupts) {
  std::vector<std::string> words{side.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> variables = environment_with(side.environment);
  const std::vector<char*> argument_list = pointers_to(words);
  const std::vector<char*> variable_list = pointers_to(variables);
  const pid_t child = start_child(side.program, [&] {
    setpgid(0, 0);  // a terminal's ctrl-C is ours to pass on, once
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) return;
    execve(side.program.c_str(), argument_list.data(), variable_list.data());
  });
  const FileDescriptor ended = watch_end(child);
  std::array<pollfd, 2> list{{{ended.get(), POLLIN, 0}, {interrupts.descriptor(), POLLIN, 0}}};
  while ((list[0].revents & POLLIN) == 0) {
    poll(list.data(), list.size(), -1);
    while (const auto signal = interrupts.next()) kill(child, *signal);
  }
  return exit_code_of(take_status(child));
}

}  // namespace headroom
