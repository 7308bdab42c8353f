// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headroom {

/// Writes to standard output. A reader that went away (`headroom list | head`) had enough: that is
/// no error. Throws std::system_error where it can't be written for another reason.
void print(std::string_view text);

/// One line to standard error, after "headroom: ". Never fails.
void say(std::string_view text);

}  // namespace headroom
