// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/core/file.h"

// How the runner and an agent speak: frames of bytes over one socket. docs/protocol.md, "Across
// machines".
namespace headroom {

enum class FrameKind : char {
  // of an agent
  hello = 'h',    // who it is, in JSON
  message = 'm',  // bytes of its worker's messages
  output = 'o',   // bytes that its worker printed
  ended = 'e',    // how its worker ended, in JSON
  // of either
  refused = 'r',  // why, for people
  // of the runner
  welcome = 'w',
  start = 's',   // what its worker is to do, in JSON
  signal = 'k',  // which one its worker is to get
  over = 'q',    // there is nothing more to do
};

struct Frame {
  FrameKind kind;
  std::string payload;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// A frame on the wire: one byte of kind, four of the payload's length, the most significant first,
/// and the payload.
std::string encode(const Frame& frame);

/// Reads frames out of bytes that anybody may have sent: no payload may be longer than `max_bytes`.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Sets the longest payload of the frames to come.
  void allow(std::size_t max_bytes) { max_bytes_ = max_bytes; }
  /// Takes more bytes. After the first fault nothing more is read.
  void take(std::string_view bytes);
  /// The next whole frame, if there is one.
  std::optional<Frame> next();
  const std::string& fault() const { return fault_; }  // empty: all is well

 private:
  std::size_t max_bytes_;
  std::string unread_;
  std::string fault_;
};

/// Frames to and from another process. It never waits: whoever holds it polls what it awaits, and
/// calls exchange().
class Connection {
 public:
  /// `socket` is non-blocking; no frame that comes may be longer than `max_bytes`.
  Connection(FileDescriptor socket, std::size_t max_bytes);

  /// Sets the longest payload of the frames to come.
  void allow(std::size_t max_bytes) { reader_.allow(max_bytes); }

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
