// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What a plan's worker tells the dry run below it, whose clock a plan's time is. Neither does
// anything where no dry run is.
namespace headroom {

/// A step has ended.
void end_step_of_plan();

/// Each of so many ranks would now compute on its host until it has moved so much through the
/// host's memory. Those of a machine share it; a plan takes it that a machine has eight.
void move_host_bytes_of_plan(std::int64_t bytes, std::int64_t ranks);

}  // namespace headroom
