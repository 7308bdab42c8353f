// SPDX-License-Identifier: Apache-2.0
#include "models/data/resize.h"

#include <algorithm>

namespace headroom {

Resize::Resize(std::int64_t from, std::int64_t to, float max_value)
    : from_(from), scale_(2.0F / max_value) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = std::max(0.0, (static_cast<double>(i) + 0.5) * ratio - 0.5);
    const auto low = std::min(static_cast<std::int64_t>(center), from - 1);
    taps_.push_back({.low = low,
                     .high = std::min(low + 1, from - 1),
                     .weight = static_cast<float>(center - static_cast<double>(low))});
  }
}

void Resize::operator()(const std::uint8_t* pixels, float* out) const {
  std::vector<float> row(static_cast<std::size_t>(from_));
  for (const Tap& y : taps_) {
    const std::uint8_t* low = pixels + y.low * from_;
    const std::uint8_t* high = pixels + y.high * from_;
    for (std::size_t x = 0; x < row.size(); ++x) {
      row[x] =
          (static_cast<float>(low[x]) * (1 - y.weight) + static_cast<float>(high[x]) * y.weight) *
              scale_ -
          1;
    }
    for (const Tap& x : taps_) *out++ = row[x.low] * (1 - x.weight) + row[x.high] * x.weight;
  }
}

}  // namespace headroom
