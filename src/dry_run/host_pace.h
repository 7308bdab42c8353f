// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "src/dry_run/moment.h"
#include "src/dry_run/work.h"

namespace headroom::dry_run {

/// What a usual host takes for one launch of a kernel, copy or call of a library, in nanoseconds:
/// by virtual machines with an H100 and H200, and others' machines (docs/time_rates.md).
struct LaunchPace {
  std::int64_t autograd_ns;  // what is recorded for backward, and backward itself
  std::int64_t other_ns;     // an optimizer's operators above all
};
inline constexpr LaunchPace kPythonPace{.autograd_ns = 28'000, .other_ns = 14'000};
inline constexpr LaunchPace kCxxPace{.autograd_ns = 24'000, .other_ns = 9'000};

/// What a slow host took for a launch, which others measured (docs/time_rates.md).
inline constexpr std::int64_t kSlowLaunchNs = 50'000;

/// Of a kernel that the program compiled: the driver's part, which others measured
/// (docs/time_rates.md), and as much more on a slow host as for other launches. What runs in Python
/// around it is counted.
inline constexpr Moment kCompiledLaunchNs{0, 3'000, 5'000};

/// What hosts take for one call in the program's interpreter, with what a function does between its
/// calls: the one that is played nothing, a usual one what FSDP's hooks took on the machine that
/// planned them (docs/time_rates.md), a slow one as much more as for a launch.
inline constexpr Moment kPythonCallNs{0, 400, 650};

/// Bytes a second at which hosts copy between memory that is not pinned and the driver's own, as
/// others measured it (docs/time_rates.md): the fastest, a usual, the slowest. What comes from the
/// device goes mostly to memory that was never touched, whose pages the host has yet to find.
inline constexpr std::array<double, kHosts> kStagedToDevice{10e9, 5e9, 3.3e9};
inline constexpr std::array<double, kHosts> kStagedToHost{10e9, 3e9, 1.4e9};

/// How much longer than the link, which takes `copy`, hosts take for so many bytes.
Moment staging_ns(const Work& copy, std::int64_t bytes, bool to_device);

/// What hosts take to queue this work from this thread now, but for the one that is played, whose
/// pace is a setting. To be asked once the program has loaded its libraries.
Moment launch_ns(const Work& work);

/// For what this thread ran in Python since it asked last.
Moment python_ns();

/// How a Timeline asks what hosts take.
struct HostPace {
  Moment (*launch_ns)(const Work& work);
  Moment (*python_ns)();
};
inline constexpr HostPace kHostPace{&launch_ns, &python_ns};

}  // namespace headroom::dry_run
