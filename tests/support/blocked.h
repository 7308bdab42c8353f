// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>

namespace headroom {

/// A pipe that nobody reads and that takes no further byte.
class FullPipe {
 public:
  FullPipe() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) abort();
    const std::array<char, 4096> some{};
    while (write(to_write(), some.data(), some.size()) > 0) {
    }
    fcntl(to_write(), F_SETFL, 0);
  }
  ~FullPipe() {
    for (const int end : ends_) close(end);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  int to_write() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
};

/// A terminal that nobody reads: it takes some kilobytes.
class UnreadTerminal {
 public:
  UnreadTerminal() : terminal_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (grantpt(terminal_) != 0 || unlockpt(terminal_) != 0) abort();
    writer_ = open(ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~UnreadTerminal() {
    close(writer_);
    close(terminal_);
  }
  UnreadTerminal(const UnreadTerminal&) = delete;
  UnreadTerminal& operator=(const UnreadTerminal&) = delete;

  int to_write() const { return writer_; }

  /// As ctrl-S does.
  void stop() const { tcflow(writer_, TCOOFF); }

 private:
  int terminal_;
  int writer_;
};

}  // namespace headroom
