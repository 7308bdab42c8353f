// SPDX-License-Identifier: Apache-2.0
#include "src/runner/sleep_of_machine.h"

#include <ctime>

namespace headroom {
namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::string SleepOfMachine::text() const {
  const auto seconds = std::chrono::round<std::chrono::seconds>(all() - before_).count();
  if (seconds < 1) return "";
  return "the machine slept for " + std::to_string(seconds) + " s meanwhile";
}

// One of the two clocks counts the time in which the machine sleeps. Again where this process was
// kept waiting between them.
std::chrono::nanoseconds SleepOfMachine::all() {
  constexpr std::chrono::milliseconds kAtOnce{100};
  for (;;) {
    const auto awake = read_clock(CLOCK_MONOTONIC);
    const auto both = read_clock(CLOCK_BOOTTIME);
    if (read_clock(CLOCK_MONOTONIC) - awake < kAtOnce) return both - awake;
  }
}

}  // namespace headroom
