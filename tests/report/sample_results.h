// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/results/results.h"

// Results as a run would leave them, made in memory.
namespace headroom {

/// A case that ended as ok, with a peak of so many MiB: half of it weights, half activations.
CaseResult sample_case(const std::string& name, const std::string& techniques, double peak_mib,
                       double samples_per_second = 100);

/// A case that ended as `status` says, with nothing measured.
CaseResult sample_failure(const std::string& name, const std::string& status,
                          const std::string& reason);

/// The same case as planned for an A100.
CaseResult sample_plan(CaseResult measured);

/// Results of kind "measured" or "planned"; the cases that are there are all of the suite's.
Results sample_results(const std::string& suite, const std::string& kind,
                       std::vector<CaseResult> cases);

}  // namespace headroom
