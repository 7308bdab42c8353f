// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace headroom {

/// A table as text for people: a header, then rows of as many cells. Columns are as wide as their
/// widest cell, two spaces apart; those named in `right` stand to the right.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::string>& right = {});

}  // namespace headroom
