// SPDX-License-Identifier: Apache-2.0
#include "src/runner/interrupt.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace headroom {

Interrupts::Interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, &before_);
  signals_ = FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Interrupts::~Interrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int Interrupts::count() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) ++count_;
  return count_;
}

void turn_write_signals_into_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace headroom
