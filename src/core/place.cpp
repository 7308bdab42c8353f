// SPDX-License-Identifier: Apache-2.0
#include "src/core/place.h"

namespace headroom {

std::string Place::text() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace headroom
