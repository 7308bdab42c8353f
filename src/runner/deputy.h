// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/runner/connection.h"
#include "src/runner/hello.h"
#include "src/runner/tcp.h"

namespace headroom {

/// A deputy, as the runner sees it: the process that a launcher started beside the runner, as
/// another rank, and that starts this rank's workers for it.
struct Deputy {
  Hello hello;
  Ends ends;
  Connection connection;
  /// Why it can't be asked for anything any more, and by which name; empty: it can.
  std::string lost = {};

  /// What `why` has done to it.
  void lose(const std::string& why) {
    if (lost.empty()) lost = "the connection to " + hello.host + " was lost: " + why;
  }
};

}  // namespace headroom
