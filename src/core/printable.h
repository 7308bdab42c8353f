// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// The text with its control characters as \xNN, so that nothing that a worker or a file says can
/// steer a terminal.
std::string printable(std::string_view text);

}  // namespace headroom
