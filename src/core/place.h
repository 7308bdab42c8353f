// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom {

/// A position in a text that a user wrote. Lines and columns count from 1; line 0: no position.
struct Place {
  std::string file;  // as the user named it, or "--set" and the like
  int line = 0;
  int column = 0;

  /// "file:line:column", or "file" where there is no position.
  std::string text() const;
};

}  // namespace headroom
