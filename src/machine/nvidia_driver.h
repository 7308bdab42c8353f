// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace headroom {

/// NVIDIA's driver of this machine, "470.57.02", where it has a GPU and gives it to this process,
/// as files of devices; nothing: there is none. `root` stands before every path.
std::optional<std::string> nvidia_driver(const std::string& root = "");

}  // namespace headroom
