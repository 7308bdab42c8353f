// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/results/results.h"

namespace headroom {

/// The call of a shell that makes the row again, out of the suite that lies beside the results.
/// `--gpu-memory` of a plan is not kept with the results, so it is not in the call.
std::string rerun_command(const Results& results, const CaseResult& one);

}  // namespace headroom
