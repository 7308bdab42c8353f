// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <optional>
#include <string>

#include "src/core/file_descriptor.h"
#include "src/runner/frame.h"

namespace headroom {

/// Frames to and from another process. It never waits: whoever holds it polls what it awaits, and
/// calls exchange().
class Connection {
 public:
  /// `socket` is non-blocking; no frame that comes may be longer than `most_bytes`.
  Connection(FileDescriptor socket, std::size_t most_bytes);

  /// From now on.
  void allow(std::size_t most_bytes) { reader_.allow(most_bytes); }

  pollfd awaited() const;
  /// Sends what the other end takes for now, and reads some of what has come.
  void exchange();

  /// Sends as much as the other end takes for now; the rest goes with exchange().
  void send(const Frame& frame);
  std::size_t unsent_bytes() const { return unsent_.size(); }

  /// The next frame that has come, if there is one.
  std::optional<Frame> next() { return reader_.next(); }
  /// Why no more will come; empty: it may. To be asked when next() gives nothing.
  const std::string& lost() const;

 private:
  void send_some();

  FileDescriptor socket_;
  FrameReader reader_;
  std::string unsent_;
  std::string lost_;
};

}  // namespace headroom
