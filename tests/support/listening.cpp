// SPDX-License-Identifier: Apache-2.0
#include "tests/support/listening.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace headroom {
namespace {

/// The inodes of the sockets that a process has open.
std::set<std::string> sockets_of(pid_t process) {
  std::set<std::string> inodes;
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone);
    const std::string start = "socket:[";
    if (target.starts_with(start))
      inodes.insert(target.substr(start.size(), target.size() - start.size() - 1));
  }
  return inodes;
}

}  // namespace

bool Listening::is_on_loopback() const {
  const bool is_v4 = address.size() == 8;
  if (is_v4) return address.ends_with("7F");  // the first byte comes last
  return address == "00000000000000000000000001000000";
}

std::vector<Listening> listening_sockets(pid_t process) {
  const std::string kListens = "0A";
  const std::set<std::string> inodes = sockets_of(process);
  std::vector<Listening> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // the header
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retries >> user >>
          timeout >> inode;
      if (state != kListens || !inodes.contains(inode)) continue;
      const std::size_t colon = local.find(':');
      found.push_back({local.substr(0, colon), std::stoi(local.substr(colon + 1), nullptr, 16)});
    }
  }
  return found;
}

}  // namespace headroom
