// SPDX-License-Identifier: Apache-2.0
#include "src/cli/output.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "src/core/file.h"
#include "src/core/printable.h"

namespace headroom {

void print(std::string_view text) {
  try {
    write_all(STDOUT_FILENO, text, "standard output");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::broken_pipe) throw;
  }
}

void say(std::string_view text) {
  const std::string line = "headroom: " + printable(text) + "\n";
  // One write, and nowhere to report that it failed.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace headroom
