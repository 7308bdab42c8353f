// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/report/groups.h"
#include "src/report/html.h"

namespace headroom {

/// What the peak of each case is made of: a bar a case, a colour and a pattern a category, with the
/// exact bytes as a table below. Empty where no case of the group has a peak.
Html peak_figure(const Group& group);

}  // namespace headroom
