// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/step_clock.h"

namespace headroom::dry_run {

void StepClock::end_step(const Moment& now, const Work& done) {
  const std::lock_guard lock(mutex_);
  if (!first_) {
    first_ = {now, done};
    return;
  }
  ++steps_.count;
  for (std::size_t host = 0; host < kHosts; ++host) steps_.ns[host] = now[host] - first_->at[host];
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind) {
    steps_.work.ns[kind] = done.ns[kind] - first_->done.ns[kind];
  }
}

StepClock::Steps StepClock::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

}  // namespace headroom::dry_run
