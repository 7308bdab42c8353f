// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// All results as one HTML document that needs nothing else: no network, no script. A section each,
/// in their order; plans and measurements never share a figure.
std::string html_report(const std::vector<Results>& all);

}  // namespace headroom
