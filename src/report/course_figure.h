// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/report/groups.h"
#include "src/report/html.h"

namespace headroom {

/// How memory went over a step of each case, all on the same scale, with the peak marked: out of
/// the record's `step_memory`. Empty where no case of the group has one.
Html course_figures(const Group& group);

}  // namespace headroom
