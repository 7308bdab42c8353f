// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "src/dry_run/moment.h"
#include "src/dry_run/work.h"

namespace headroom::dry_run {

/// The steps of a training on a device behind the first. One in which the program compiles kernels
/// counts only where all of them do: it runs them to find the fastest. Safe to call from any
/// thread.
class StepClock {
 public:
  struct Steps {
    std::int64_t count = 0;
    Moment ns{};  // of all
    Work work{};  // likewise
  };

  /// A kernel was compiled in the step that has begun.
  void note_compiled();
  /// A step has ended, by when the device had done all of `done`.
  void end_step(const Moment& now, const Work& done);
  Steps steps() const;

 private:
  struct Mark {
    Moment at;
    Work done;
  };
  mutable std::mutex mutex_;
  std::optional<Mark> last_;
  bool compiles_ = false;
  Steps plain_;
  Steps compiling_;
};

}  // namespace headroom::dry_run
