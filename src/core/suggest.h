// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The name that `given` is probably a misspelling of, by edit distance; empty: none is near.
std::string closest_name(std::string_view given, const std::vector<std::string>& names);

/// What a message says after an unknown name: "did you mean 'x'? Allowed: x, y" or "allowed: x, y".
std::string allowed_names(std::string_view given, const std::vector<std::string>& names);

}  // namespace headroom
