// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include "src/core/file_descriptor.h"

namespace headroom {

/// While it lives, SIGINT, SIGTERM and SIGHUP end nothing by themselves: they are counted, and
/// whoever waits sees them as a readable descriptor.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return signals_.get(); }

  /// How many have come so far.
  int count();

 private:
  sigset_t before_;
  FileDescriptor signals_;
  int count_ = 0;
};

/// A write to a closed pipe or past the limit of a file's size is an error, not the end: ignores
/// SIGPIPE and SIGXFSZ for the rest of the program.
void turn_write_signals_into_errors();

}  // namespace headroom
