// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_largest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_order.h"
#include "src/dry_run/small_shares.h"
#include "src/dry_run/small_tensor_info.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kGatherLargest = "10gatherTopKI";

/// gatherTopK<type, unsigned, ...>; nothing: the type is none that is followed, or the tensors have
/// 2^31 elements and more.
std::optional<c10::ScalarType> type_of_largest(std::string_view name) {
  const std::size_t place = name.find(kGatherLargest);
  if (place == std::string_view::npos) return std::nullopt;
  name.remove_prefix(place + kGatherLargest.size());
  const auto type = take_type(name);
  return name.starts_with('j') ? type : std::nullopt;
}

/// (from, unsigned length of a row, how many of it, bool, unsigned rows, stride, the largest, their
/// stride, where they stood, the stride of these, ...).
struct LargestLaunch {
  explicit LargestLaunch(void** arguments, std::size_t width_of_one)
      : from(arguments[0]),
        largest(arguments[6]),
        places(arguments[8]),
        length(at<std::uint32_t>(arguments[1])),
        count(at<std::uint32_t>(arguments[2])),
        is_of_largest(at<bool>(arguments[3])),
        rows(at<std::uint32_t>(arguments[4])),
        step(at<std::uint32_t>(arguments[5])),
        step_of_largest(at<std::uint32_t>(arguments[7])),
        step_of_places(at<std::uint32_t>(arguments[9])),
        width(width_of_one) {}

  bool is_laid_out(Owns owns) const {
    return from.is_laid_out() && largest.is_laid_out() && places.is_laid_out() && rows > 0 &&
           count > 0 && count <= length && owns(from.data()) && owns(largest.data()) &&
           owns(places.data());
  }
  static std::size_t reach(const TensorInfo& tensor, std::size_t elements, std::size_t step,
                           std::size_t width) {
    return (tensor.reach() + (elements - 1) * step) * width;
  }

  TensorInfo from;
  TensorInfo largest;
  TensorInfo places;
  std::size_t length;
  std::size_t count;
  bool is_of_largest;
  std::size_t rows;
  std::size_t step;
  std::size_t step_of_largest;
  std::size_t step_of_places;
  std::size_t width;
};

/// As the kernels order numbers: of what is no number each is as large, and larger than all others.
template <class T>
std::uint64_t rank_of(T value) {
  return value == value ? ordered_bits(value) : ~std::uint64_t{0};
}

/// Where the largest stand, in the order in which they are written: those beyond the last of them
/// in size, then as many as are missing of its size.
std::vector<std::size_t> places_of_largest(const std::vector<std::uint64_t>& ranks,
                                           const LargestLaunch& launch) {
  std::vector<std::uint64_t> sorted = ranks;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(launch.count - 1);
  const auto is_before = [&](std::uint64_t one, std::uint64_t other) {
    return comes_first(one, other, launch.is_of_largest);
  };
  std::ranges::nth_element(sorted, last, is_before);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (is_before(ranks[i], *last)) places.push_back(i);
  }
  for (std::size_t i = 0; i < ranks.size() && places.size() < launch.count; ++i) {
    if (ranks[i] == *last) places.push_back(i);
  }
  return places;
}

/// False: some of the numbers are not known, or they may be added to: where zeros were, the scores
/// of experts come to stand, by kernels that are not followed.
template <class T>
bool run_rows_of_largest(const LargestLaunch& launch, KnownBytes& known) {
  const std::size_t reach =
      LargestLaunch::reach(launch.from, launch.length, launch.step, launch.width);
  Elements from(known, launch.from.data(), reach);
  if (from.may_be_added_to<T>()) return false;
  Writes largest(launch.largest.data(), LargestLaunch::reach(launch.largest, launch.count,
                                                             launch.step_of_largest, launch.width));
  Writes places(launch.places.data(),
                LargestLaunch::reach(launch.places, launch.count, launch.step_of_places, 8));
  for (std::size_t row = 0; row < launch.rows; ++row) {
    std::vector<T> values;
    std::vector<std::uint64_t> ranks;
    for (std::size_t i = 0; i < launch.length; ++i) {
      const unsigned char* const value =
          from.at((launch.from.of(row) + i * launch.step) * launch.width, launch.width);
      if (value == nullptr) return false;
      values.push_back(at<T>(value));
      ranks.push_back(rank_of(at<T>(value)));
    }
    std::size_t i = 0;
    for (const std::size_t found : places_of_largest(ranks, launch)) {
      const T value = values[found];
      const auto place = static_cast<std::int64_t>(found);
      largest.put((launch.largest.of(row) + i * launch.step_of_largest) * launch.width, &value,
                  launch.width);
      places.put((launch.places.of(row) + i * launch.step_of_places) * sizeof(place), &place,
                 sizeof(place));
      ++i;
    }
  }
  largest.tell(known, from.trust());
  places.tell(known, from.trust());
  return true;
}

}  // namespace

bool is_largest(const char* name) { return type_of_largest(name).has_value(); }

bool run_largest(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const c10::ScalarType type = *type_of_largest(name);
  const LargestLaunch launch(arguments, bytes_of_type(type));
  if (!launch.is_laid_out(owns)) return false;
  bool is_known = false;
  const bool is_small =
      LargestLaunch::reach(launch.from, launch.length, launch.step, 8) <= KnownBytes::kMaxBytes &&
      LargestLaunch::reach(launch.places, launch.count, launch.step_of_places, 8) <=
          KnownBytes::kMaxBytes;
  if (is_small) {
    with_type(type,
              [&](auto zero) { is_known = run_rows_of_largest<decltype(zero)>(launch, known); });
  }
  return is_known || run_share(name, arguments, known, owns);
}

}  // namespace headroom::dry_run
