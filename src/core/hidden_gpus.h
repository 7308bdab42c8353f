// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom {

/// Whether a value of CUDA_VISIBLE_DEVICES hides all GPUs on purpose, as users and Slurm write it.
/// CUDA passes over the first name that it does not know and all behind it, so that a slip of the
/// pen hides them as well.
constexpr bool hides_gpus(std::string_view visible) {
  constexpr std::array<std::string_view, 4> kNone = {"", "-1", "none", "NoDevFiles"};
  return std::ranges::find(kNone, visible) != kNone.end();
}

}  // namespace headroom
