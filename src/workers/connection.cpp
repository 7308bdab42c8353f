// SPDX-License-Identifier: Apache-2.0
#include "src/workers/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "src/core/tcp.h"

namespace headroom {
namespace {

constexpr std::size_t kBytesOfLength = 4;
constexpr std::size_t kBytesOfHead = 1 + kBytesOfLength;
constexpr std::string_view kKinds = "hmoewrskq";

std::size_t length_of(std::string_view head) {
  std::size_t length = 0;
  for (const char byte : head.substr(1, kBytesOfLength)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

constexpr std::size_t kReadBytes = 64 * 1024;  // so that no connection keeps the others waiting

}  // namespace

std::string encode(const Frame& frame) {
  std::string text(1, static_cast<char>(frame.kind));
  const auto length = static_cast<std::uint32_t>(frame.payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(length >> shift & 0xff);
  return text + frame.payload;
}

void FrameReader::take(std::string_view bytes) {
  if (fault_.empty()) unread_ += bytes;
}

std::optional<Frame> FrameReader::next() {
  if (!fault_.empty() || unread_.empty()) return std::nullopt;
  if (kKinds.find(unread_[0]) == std::string_view::npos) {
    fault_ = "what came is not of headroom";
  } else if (unread_.size() >= kBytesOfHead && length_of(unread_) > max_bytes_) {
    fault_ = "what came is longer than " + std::to_string(max_bytes_) + " bytes";
  }
  if (!fault_.empty()) {
    unread_.clear();
    return std::nullopt;
  }
  if (unread_.size() < kBytesOfHead) return std::nullopt;
  const std::size_t end = kBytesOfHead + length_of(unread_);
  if (unread_.size() < end) return std::nullopt;
  Frame frame{static_cast<FrameKind>(unread_[0]), unread_.substr(kBytesOfHead, end - kBytesOfHead)};
  unread_.erase(0, end);
  return frame;
}

Connection::Connection(FileDescriptor socket, std::size_t max_bytes)
    : socket_(std::move(socket)), reader_(max_bytes) {}

pollfd Connection::awaited() const {
  const int events = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
  return {socket_.get(), static_cast<short>(events), 0};
}

void Connection::exchange() {
  send_some();
  std::array<char, kReadBytes> buffer;
  const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (count > 0) return reader_.take({buffer.data(), static_cast<std::size_t>(count)});
  // A process that is killed with words of ours unread resets what it else would close.
  if (count == 0 || (count < 0 && errno == ECONNRESET)) {
    lost_ = "it was closed at the other end";
  } else if (!is_for_now(errno)) {
    lost_ = std::strerror(errno);
  }
}

void Connection::send(const Frame& frame) {
  unsent_ += encode(frame);
  send_some();
}

void Connection::send_some() {
  // Where it is closed the other way, reading says so, after what came before.
  if (!headroom::send_some(socket_.get(), unsent_)) unsent_.clear();
}

const std::string& Connection::lost() const {
  return reader_.fault().empty() ? lost_ : reader_.fault();
}

}  // namespace headroom
