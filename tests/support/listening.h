// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace headroom {

/// A TCP socket that listens, by the tables of /proc/net.
struct Listening {
  std::string address;  // in hexadecimal, as they have it: "0100007F" is 127.0.0.1
  int port = 0;

  bool is_on_loopback() const;
};

/// Those of a process.
std::vector<Listening> listening_sockets(pid_t process);

}  // namespace headroom
