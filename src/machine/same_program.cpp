// SPDX-License-Identifier: Apache-2.0
#include "src/machine/same_program.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace headroom {

bool runs_this_program(pid_t process) {
  std::error_code none;
  return std::filesystem::equivalent("/proc/" + std::to_string(process) + "/exe", "/proc/self/exe",
                                     none);
}

}  // namespace headroom
