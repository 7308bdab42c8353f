// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "src/core/file.h"

namespace headroom {

/// The IP addresses of a connection's two ends; that of IPv4 as such, also where IPv6 carries it.
struct Ends {
  std::string here;
  std::string there;

  /// Both are on one machine: it has reached itself by an address of its own.
  bool are_one_machine() const;
};

/// A socket that listens on that port, non-blocking: on the first address alone that `host` has
/// here, a name or an address in any spelling; of IPv4, if there is one. On all interfaces where
/// that is no address of this machine, or some are not the loopback's and not `only_there`: who
/// comes from elsewhere may know the host by another address. Throws std::system_error.
FileDescriptor listen_on(const std::string& host, int port, bool only_there = false);

/// A connection that waits at `listener`; nothing: none does. Throws std::system_error where there
/// is no room for one.
std::optional<FileDescriptor> accept_at(int listener);

/// Connects, to each of the host's addresses in turn; it takes `timeout` at the most, and what the
/// system takes to find the addresses. Throws std::runtime_error, which says why the last one did
/// not answer.
FileDescriptor connect_to(const std::string& host, int port, std::chrono::milliseconds timeout);

/// Whether a call on a non-blocking socket that failed so can be made again later.
bool is_for_now(int error);

/// Sends as much as the other end takes for now, and takes it off `unsent`. False: it takes no
/// more; errno says why.
bool send_some(int socket, std::string& unsent);

/// Throws std::system_error.
Ends ends_of(int socket);

}  // namespace headroom
