// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/workers/this_process.h"

namespace headroom {

/// One of the two that a night measures in turns.
struct NightlySide {
  std::string folder;        // of its results: "old" or "new"
  std::string program;       // a headroom
  Environment environment;   // of it, beside this process's own
  bool is_libtorch = false;  // it is this headroom over another LibTorch
};

/// `given`: a headroom; a folder that holds one, a checkout or a build; or a LibTorch (a folder
/// with lib/libtorch_cpu.so), over which this headroom runs. Throws ConfigError where it is none.
NightlySide side_of(const std::string& folder, const std::string& given);

/// Runs the side's program, its standard output to nowhere, and gives its exit code. What comes of
/// signals meanwhile is passed on to it. Throws std::system_error where it can't be started.
int run_side(const NightlySide& side, const std::vector<std::string>& arguments,
             Interrupts& interrupts);

}  // namespace headroom
