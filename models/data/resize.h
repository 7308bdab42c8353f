// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

/// Resizes square images and maps their values to [-1, 1], which is what mean 0.5 and standard
/// deviation 0.5 make of [0, 1]. Bilinear with half-pixel centres and no antialiasing, as
/// torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
class Resize {
 public:
  /// From images of `from` x `from` pixels with values 0 .. max_value to `to` x `to`.
  Resize(std::int64_t from, std::int64_t to, float max_value);

  /// One channel: `pixels` holds from * from values row by row; to * to values are written.
  void operator()(const std::uint8_t* pixels, float* out) const;

 private:
  struct Tap {
    std::int64_t low, high;  // the two source positions
    float weight;            // of `high`
  };

  std::int64_t from_;
  float scale_;
  std::vector<Tap> taps_;  // one for each target position, the same for rows and columns
};

}  // namespace headroom
