// SPDX-License-Identifier: Apache-2.0
#include "src/core/suggest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string closest_name(std::string_view given, const std::vector<std::string>& names) {
  std::string best;
  // A third of the letters may be wrong; beyond that a suggestion is a guess.
  std::size_t least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    // The distance is at least the difference in length.
    if (name.size() + least <= given.size() || given.size() + least <= name.size()) continue;
    const std::size_t distance = edit_distance(given, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string allowed_names(std::string_view given, const std::vector<std::string>& names) {
  if (names.empty()) return "nothing is allowed here";
  const std::string closest = closest_name(given, names);
  std::string text = closest.empty() ? "allowed: " : "did you mean '" + closest + "'? Allowed: ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

}  // namespace headroom
