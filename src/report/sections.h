// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/report/groups.h"
#include "src/report/html.h"
#include "src/results/results.h"

// The parts of the report of one results folder. Each is empty where the folder has nothing for it.
namespace headroom {

/// Memory and time of each case, with percent of the case before and of the plain one; of a case
/// that did not end as ok the reason.
Html stack_section(const Results& results, const std::vector<Group>& groups);

/// What was published, planned and measured, with signed errors. Of a measured case, a plan for the
/// same GPU out of `all` stands beside, where the run made none itself.
Html figure_sources_section(const Results& results, const std::vector<Results>& all);

/// Figures, one of each for each group.
Html peak_section(const std::vector<Group>& groups);
Html course_section(const std::vector<Group>& groups);
Html tradeoff_section(const std::vector<Group>& groups);

/// The peak of each rank, of cases that several processes trained.
Html ranks_section(const Results& results);

/// Why cases did not end as ok, and which are not done.
Html missing_section(const Results& results);

/// The versions and machines that the rows name.
Html environment_section(const Results& results);

/// The call that makes each row again.
Html commands_section(const Results& results, const std::vector<Group>& groups);

}  // namespace headroom
