// SPDX-License-Identifier: Apache-2.0
#include "src/runner/oom_kills.h"

#include <fstream>
#include <string_view>

namespace headroom {
namespace {

/// The number behind "oom_kill " in a file of lines "name number".
std::optional<std::int64_t> read_counter(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  for (std::int64_t value; file >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> count_oom_kills(const std::string& root) {
  // "4:memory:/path" in version 1, "0::/path" in version 2; version 1 counts where both stand.
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<std::int64_t> unified;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = root + "/sys/fs/cgroup";
    const std::string group = line.substr(second + 1);
    if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      if (const auto count = read_counter(path + "/memory" + group + "/memory.oom_control")) {
        return count;
      }
    } else if (controllers.empty()) {
      unified = read_counter(path + group + "/memory.events");
    }
  }
  return unified;
}

}  // namespace headroom
