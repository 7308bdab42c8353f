// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headroom::dry_run {

/// What a usual host takes for one launch of a kernel, copy or call of a library, by what it
/// launches for. In nanoseconds; of a virtual machine with an H100 (docs/time.md).
struct HostPace {
  static constexpr std::int64_t kAutogradNs = 28'000;  // what is recorded, and backward
  static constexpr std::int64_t kPythonNs = 20'000;    // all else: an optimizer's operators
  static constexpr std::int64_t kCxxNs = 9'000;        // all else of a program without Python
};

/// Of a launch that this thread makes now. To be asked once the program has loaded its libraries.
std::int64_t usual_launch_ns();

}  // namespace headroom::dry_run
