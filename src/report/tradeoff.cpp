// SPDX-License-Identifier: Apache-2.0
#include "src/report/tradeoff.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace headroom {

std::vector<Tradeoff> tradeoffs_of(const Group& group) {
  std::vector<Tradeoff> list;
  for (const Line& line : group.lines) {
    const auto speed = number_in(line.row(), "samples_per_second");
    const auto peak = peak_of(line.row());
    if (speed && peak) list.push_back({&line, *speed, *peak});
  }
  std::ranges::stable_sort(list, [](const Tradeoff& a, const Tradeoff& b) {
    return std::tuple(-a.samples_per_second, a.peak_bytes) <
           std::tuple(-b.samples_per_second, b.peak_bytes);
  });
  // None before is slower: only less memory than all of them is better in anything.
  double least = std::numeric_limits<double>::infinity();
  const Tradeoff* last = nullptr;
  for (Tradeoff& one : list) {
    const bool is_as_good = last != nullptr && one.peak_bytes == last->peak_bytes &&
                            one.samples_per_second == last->samples_per_second;
    one.is_best = one.peak_bytes < least || is_as_good;
    if (one.is_best) last = &one;
    least = std::min(least, one.peak_bytes);
  }
  return list;
}

}  // namespace headroom
