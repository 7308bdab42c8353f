// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace headroom {

/// A place on an axis that begins at 0.
struct Tick {
  double value = 0;
  std::string text;
};

/// At most `most` round figures above 0 and up to `largest`: 1, 2 or 5 times a power of ten, of
/// bytes in their binary unit. None where nothing is above 0.
std::vector<Tick> byte_ticks(double largest, int most);
std::vector<Tick> number_ticks(double largest, int most);

}  // namespace headroom
