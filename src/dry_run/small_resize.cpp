// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kResize = "28upsample_nearest2d_out_frameI";

}  // namespace

bool is_resize(const char* name) { return has(name, kResize) && type_behind(name, kResize); }

/// <T, which is the nearest>(const T* from, T* to, images, height, width, new height, new width,
/// float old by new height, width).
bool run_resize(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const bool is_of_middles = has(name, "exact_compute_source_index");
  const std::size_t bytes_of_one = bytes_of_type(*type_behind(name, kResize));
  const auto number = [&](std::size_t index) { return at<std::size_t>(arguments[index]); };
  const void* const to = pointer(arguments, 1);
  const std::size_t size = number(2) * number(5) * number(6) * bytes_of_one;
  if (!owns(pointer(arguments, 0)) || !owns(to) || size == 0 || number(3) * number(4) == 0) {
    return false;
  }
  if (size > KnownBytes::kMaxBytes) return known.forget(to, size), true;
  Inputs inputs(known);
  const auto bytes =
      inputs.bytes(pointer(arguments, 0), number(2) * number(3) * number(4) * bytes_of_one);
  const auto nearest = [&](std::size_t place, std::size_t dimension) {
    const auto scale = at<float>(arguments[7 + dimension]);
    const float found =
        std::floor((static_cast<float>(place) + (is_of_middles ? 0.5F : 0)) * scale);
    return std::min(static_cast<std::size_t>(found), number(3 + dimension) - 1);
  };
  std::vector<unsigned char> result(size);
  for (std::size_t i = 0; i < size / bytes_of_one && !bytes.empty(); ++i) {
    const std::size_t column = nearest(i % number(6), 1);
    const std::size_t row = nearest(i / number(6) % number(5), 0);
    const std::size_t image = i / (number(5) * number(6));
    const std::size_t from = (image * number(3) + row) * number(4) + column;
    std::copy_n(&bytes[from * bytes_of_one], bytes_of_one, &result[i * bytes_of_one]);
  }
  put(known, to, {result.data(), size, !bytes.empty()}, inputs);
  return true;
}

}  // namespace headroom::dry_run
