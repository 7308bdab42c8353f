// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace headroom {

/// Which of the processes that train together this one is, and where they meet.
struct Membership {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  /// A file, absolute, that no earlier group has used; empty: the others never come, since they are
  /// played by a dry run.
  std::string store{};
};

}  // namespace headroom
