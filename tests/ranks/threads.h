// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "src/distributed/process_group.h"

namespace headroom {

/// Runs `work` for each of `ranks` ranks, each on a thread of its own, over gloo. What a rank
/// throws fails the test.
void on_ranks(std::int64_t ranks, const std::function<void(ProcessGroup&)>& work);

}  // namespace headroom
