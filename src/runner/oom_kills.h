// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headroom {

/// How many processes of this process's cgroup the kernel has killed for lack of memory so far;
/// nothing where no counter can be read. Both versions of cgroups are known. `root` stands before
/// every path.
std::optional<std::int64_t> count_oom_kills(const std::string& root = "");

}  // namespace headroom
