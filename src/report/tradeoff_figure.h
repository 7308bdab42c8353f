// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/report/groups.h"
#include "src/report/html.h"

namespace headroom {

/// Peak memory against samples per second: a point a measured case, with its number, and the names
/// of those that no other case beats in both. Empty where fewer than two cases have both figures.
Html tradeoff_figure(const Group& group);

}  // namespace headroom
