// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace headroom {

/// Which of the processes that train together this one is, and where they meet.
struct Membership {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  /// A file, absolute, that no earlier group has used; empty: they meet at `store_host`.
  std::string store{};
  /// The machine of rank 0, which serves the store on this port; empty as well: the others never
  /// come, since they are played by a dry run.
  std::string store_host{};
  int store_port = 0;
  /// The IP address of this machine by which the others reach it; empty: all are on this machine.
  std::string address{};
};

}  // namespace headroom
