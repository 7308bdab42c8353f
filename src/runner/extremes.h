// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/runner/dry_run.h"

// What reserved memory depends on that nobody knows. `report`: one of DryReports::whole.
namespace headroom {

/// On the host's pace: what the program asked of the device was answered by it.
bool depends_on_host(const nlohmann::ordered_json& report);
/// On which convolutions copy their tensors: the most that one copies is a hundredth of the peak or
/// more.
bool depends_on_layouts(const nlohmann::ordered_json& report);
/// On which of cuDNN's engines a program keeps of those that it tries: one of them works in a
/// hundredth of the peak or more.
bool depends_on_engines(const nlohmann::ordered_json& report);

/// The runs between which reserved memory lies: as estimated, but with each extreme of what it
/// depends on by one of the reports. What the environment chooses stays as it is.
std::vector<DryRun> extremes_of(const DryRun& estimated,
                                const std::vector<nlohmann::ordered_json>& reports);

}  // namespace headroom
