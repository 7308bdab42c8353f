// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/results/repeats.h"

// What must be the same for two figures of a case to be compared. Both lists are empty where it is.
namespace headroom {

/// What differs between the machines: "cores was 2 and is 4". Of plans: the GPU that is played.
/// A LibTorch is part of the machine where something is measured; of a plan it is what is tried.
std::vector<std::string> machine_differences(const Repeats& old_case, const Repeats& new_case);

/// What differs between the work of the two. A field that only one of them knows does not: its
/// program is of another version.
std::vector<std::string> work_differences(const Repeats& old_case, const Repeats& new_case);

}  // namespace headroom
