// SPDX-License-Identifier: Apache-2.0
#include "src/worker/plan_clock.h"

#include <dlfcn.h>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t kRanksOfAMachine = 8;

}  // namespace

void end_step_of_plan() {
  using EndStep = void();
  static auto* const end_step =
      reinterpret_cast<EndStep*>(dlsym(RTLD_DEFAULT, "headroom_dry_run_end_step"));
  if (end_step != nullptr) end_step();
}

void move_host_bytes_of_plan(std::int64_t bytes, std::int64_t ranks) {
  using MoveHostBytes = void(std::int64_t);
  static auto* const move =
      reinterpret_cast<MoveHostBytes*>(dlsym(RTLD_DEFAULT, "headroom_dry_run_move_host_bytes"));
  if (move != nullptr) move(bytes * std::min(ranks, kRanksOfAMachine));
}

}  // namespace headroom
