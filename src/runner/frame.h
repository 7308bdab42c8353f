// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// What the runner and a deputy say to each other: docs/protocol.md, "Across machines".
enum class FrameKind : char {
  // of a deputy
  hello = 'h',    // who it is, in JSON
  message = 'm',  // bytes of its worker's messages
  output = 'o',   // bytes that its worker printed
  ended = 'e',    // how its worker ended, in JSON
  // of the runner
  welcome = 'w',
  refused = 'r',  // why, for people
  start = 's',    // what its worker is to do, in JSON
  signal = 'k',   // which one its worker is to get
  over = 'q',     // there is nothing more to do
};

struct Frame {
  FrameKind kind;
  std::string payload;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// On the wire: one byte of kind, four of the payload's length, the most significant first, and the
/// payload.
std::string encode(const Frame& frame);

/// Reads frames out of the bytes of a stranger: no payload may be longer than `most_bytes`.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// From now on.
  void allow(std::size_t most_bytes) { most_bytes_ = most_bytes; }
  /// After the first fault nothing more is read.
  void take(std::string_view bytes);
  /// The next whole frame, if there is one.
  std::optional<Frame> next();
  const std::string& fault() const { return fault_; }  // empty: all is well

 private:
  std::size_t most_bytes_;
  std::string unread_;
  std::string fault_;
};

}  // namespace headroom
