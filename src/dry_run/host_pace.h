// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/dry_run/moment.h"

namespace headroom::dry_run {

/// What a usual host takes for one launch of a kernel, copy or call of a library, in nanoseconds:
/// that of a virtual machine with an H100 (docs/time.md).
struct HostPace {
  std::int64_t autograd_ns;  // what is recorded for backward, and backward itself
  std::int64_t other_ns;     // an optimizer's operators above all
};
inline constexpr HostPace kPythonPace{.autograd_ns = 30'000, .other_ns = 20'000};
inline constexpr HostPace kCxxPace{.autograd_ns = 24'000, .other_ns = 9'000};

/// What hosts take for a collective beside its launch: the one that is played nothing, a usual and
/// a slow one what FSDP's hooks compute around each, in programs with Python.
Moment collective_ns();

/// Of a launch that this thread makes now. To be asked once the program has loaded its libraries.
std::int64_t usual_launch_ns();

}  // namespace headroom::dry_run
