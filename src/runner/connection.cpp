// SPDX-License-Identifier: Apache-2.0
#include "src/runner/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // so that no connection keeps the others waiting

bool is_for_now(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(FileDescriptor socket, std::size_t most_bytes)
    : socket_(std::move(socket)), reader_(most_bytes) {}

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
  while (!unsent_.empty()) {
    const ssize_t count = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (count < 0 && is_for_now(errno)) return;
    // Where it is closed the other way, reading says so, after what came before.
    unsent_.erase(0, count < 0 ? unsent_.size() : static_cast<std::size_t>(count));
  }
}

const std::string& Connection::lost() const {
  return reader_.fault().empty() ? lost_ : reader_.fault();
}

}  // namespace headroom
