// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/step_clock.h"

namespace headroom::dry_run {

void StepClock::end_step(std::int64_t now_ns, const Work& done) {
  const std::lock_guard lock(mutex_);
  if (!first_) {
    first_ = {now_ns, done};
    return;
  }
  ++steps_.count;
  steps_.ns = now_ns - first_->ns;
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind) {
    steps_.work.ns[kind] = done.ns[kind] - first_->done.ns[kind];
  }
}

StepClock::Steps StepClock::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

}  // namespace headroom::dry_run
