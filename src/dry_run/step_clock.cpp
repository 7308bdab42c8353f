// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/step_clock.h"

namespace headroom::dry_run {

void StepClock::note_compiled() {
  const std::lock_guard lock(mutex_);
  compiles_ = true;
}

void StepClock::end_step(const Moment& now, const Work& done) {
  const std::lock_guard lock(mutex_);
  if (last_) {
    Steps& steps = compiles_ ? compiling_ : plain_;
    ++steps.count;
    for (std::size_t host = 0; host < kHosts; ++host) steps.ns[host] += now[host] - last_->at[host];
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind) {
      steps.work.ns[kind] += done.ns[kind] - last_->done.ns[kind];
    }
  }
  last_ = {now, done};
  compiles_ = false;
}

StepClock::Steps StepClock::steps() const {
  const std::lock_guard lock(mutex_);
  return plain_.count > 0 ? plain_ : compiling_;
}

}  // namespace headroom::dry_run
