// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// Variables of the environment: name and value.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// How many threads LibTorch starts, where it is set.
inline constexpr const char* kThreads = "OMP_NUM_THREADS";

/// This process's environment with `changes`, as "NAME=VALUE".
std::vector<std::string> environment_with(const Environment& changes);

/// What exec wants: pointers into `texts`, and a null behind them. The type says that exec changes
/// the texts; it does not.
std::vector<char*> pointers_to(const std::vector<std::string>& texts);

}  // namespace headroom
