// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace headroom {

/// How long the machine slept (was suspended) since this was made: durations and limits are of a
/// clock that stands still meanwhile, so nothing else shows it.
class SleepOfMachine {
 public:
  SleepOfMachine() : before_(all()) {}

  /// What a row says of it: "the machine slept for 90 s meanwhile"; empty: not for a second.
  std::string text() const;

 private:
  static std::chrono::nanoseconds all();  // since the machine started

  std::chrono::nanoseconds before_;
};

}  // namespace headroom
