// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/limited_clock.h"

#include <algorithm>
#include <cmath>

namespace headroom::dry_run {
namespace {

/// By which an H200's clock falls behind some 40 ms of products, as tables of kernels have it.
constexpr double kMeanNs = 20e6;
/// Assumed: no table has a GPU that is held to so little.
constexpr double kLowestShare = 0.2;

}  // namespace

Work LimitedClock::run(const Work& work, std::int64_t begin_ns) {
  if (power_->limit_watts <= 0) return work;
  Work lasting = work;
  for (const WorkKind kind : {WorkKind::product, WorkKind::attention}) {
    std::int64_t& ns = lasting.ns[static_cast<std::size_t>(kind)];
    ns = static_cast<std::int64_t>(static_cast<double>(ns) / share_);
  }
  const std::int64_t lasts = lasting.all_ns();
  const std::int64_t end = std::max(until_ns_, begin_ns + lasts);
  const double remains = std::exp(static_cast<double>(until_ns_ - end) / kMeanNs);
  until_ns_ = end;
  computing_watts_ *= remains;
  moving_watts_ *= remains;
  if (lasts > 0) {
    const double ns = static_cast<double>(lasts);
    const double weight = (1 - std::exp(-ns / kMeanNs)) * 1e9 / ns;
    computing_watts_ += work.computing_joules * weight;
    moving_watts_ += work.moving_joules * weight;
  }
  follow_power();
  return lasting;
}

/// Both the rate of the operations and the energy of each go with the clock: so the power of what
/// computes goes with its square.
void LimitedClock::follow_power() {
  if (computing_watts_ <= 0) return;
  const double room = power_->limit_watts - power_->idle_watts - moving_watts_;
  if (room >= computing_watts_ * share_ && share_ == 1) return;
  const double share = std::sqrt(share_ * std::max(room, 0.0) / computing_watts_);
  share_ = std::clamp(share, kLowestShare, 1.0);
}

}  // namespace headroom::dry_run
