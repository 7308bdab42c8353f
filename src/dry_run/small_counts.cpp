// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_counts.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kNonzero = "NonZeroOpI";
constexpr std::string_view kTrues = "21MapNumberOfTrueValues";  // unique() of bools
constexpr std::string_view kOneBlock = "DeviceReduceSingleTileKernel";
constexpr std::string_view kBlocks = "18DeviceReduceKernel";
constexpr std::string_view kNothingYet = "DeviceCompactInitKernel";
constexpr std::string_view kPlaces = "DeviceSelectSweepKernel";
constexpr std::string_view kIndices = "13write_indicesI";

/// The sums of blocks, which one more block adds up.
bool is_sum_of_counts(std::string_view name) {
  return has(name, kOneBlock) && (has(name, "4plusI") || has(name, "3SumE")) && has(name, "EPiS");
}

/// Those of some elements that are not zero.
struct Chosen {
  std::int32_t count;
  Trust trust;
  Numbers places;  // none, where there are too many of which nothing is known
};

/// A share of the elements, which lie evenly.
Chosen choose_evenly(double share, int elements) {
  constexpr std::int32_t kMostPlaces = KnownBytes::kMaxBytesOfNumbers / sizeof(std::int64_t);
  Chosen chosen{static_cast<std::int32_t>(std::lround(share * elements)), kAssumed, {}};
  if (chosen.count > kMostPlaces) return chosen;
  for (std::int64_t i = 0; i < chosen.count; ++i) {
    chosen.places.push_back(i * elements / chosen.count);
  }
  return chosen;
}

/// Of what is counted; nothing: it is none that is followed.
std::optional<c10::ScalarType> counted_type(std::string_view name) {
  return has(name, kTrues) ? c10::ScalarType::Byte : type_behind(name, kNonzero);
}

Chosen choose(std::string_view name, const void* from, int elements, const KnownBytes& known) {
  const auto type = counted_type(name);
  Inputs inputs(known);
  PartlyKnown found;
  if (type) found = inputs.partly(from, static_cast<std::size_t>(elements) * bytes_of_type(*type));
  if (found.bytes.empty()) return choose_evenly(known.share(from).value_or(1), elements);
  Trust trust = inputs.trust();
  trust.is_assumed |= !found.gaps.empty();
  Numbers places;
  with_type(*type, [&](auto zero) {
    for (int i = 0; i < elements; ++i) {
      const std::size_t place = static_cast<std::size_t>(i) * sizeof(zero);
      const bool is_zero = at<decltype(zero)>(found.bytes.data(), place) == zero;
      if (!is_zero || !found.knows(place, sizeof(zero))) places.push_back(i);
    }
  });
  return {static_cast<std::int32_t>(places.size()), trust, std::move(places)};
}

/// (elements, count, how many elements, ...): each block counts some; here the first counts all.
bool run_reduce_of_elements(const char* name, void** arguments, std::size_t blocks,
                            KnownBytes& known, Owns owns) {
  const void* const from = first_element(arguments[0], owns);
  if (from == nullptr || !owns(pointer(arguments, 1))) return false;
  const Chosen chosen = choose(name, from, at<int>(arguments[2]), known);
  std::vector<std::int32_t> counts(blocks);
  counts[0] = chosen.count;
  known.set(pointer(arguments, 1), counts.data(), counts.size() * sizeof(counts[0]), chosen.trust);
  return true;
}

/// (counts, sum, how many counts, ...). Other programs sum other numbers so: those stay unknown.
bool run_sum_of_counts(void** arguments, KnownBytes& known, Owns owns) {
  if (!owns(pointer(arguments, 0)) || !owns(pointer(arguments, 1))) return false;
  Inputs inputs(known);
  const auto blocks = static_cast<std::size_t>(at<int>(arguments[2]));
  const auto bytes = inputs.bytes(pointer(arguments, 0), blocks * sizeof(std::int32_t));
  if (bytes.empty()) return false;
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < blocks; ++i) sum += at<std::int32_t>(bytes.data(), i * sizeof(sum));
  known.set(pointer(arguments, 1), &sum, sizeof(sum), inputs.trust());
  return true;
}

/// (numbers from, elements, places, count, scratch, two functors, how many elements, ...).
bool run_places(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const void* const from = first_element(arguments[1], owns);
  const void* const to = pointer(arguments, 2);
  if (from == nullptr || !owns(pointer(arguments, 3))) return false;
  Chosen chosen = choose(name, from, at<int>(arguments[7]), known);
  if (!owns(to) && chosen.count > 0) return false;  // of no places there is no tensor
  for (std::int64_t& place : chosen.places) place += at<std::int64_t>(arguments[0]);
  known.forget(to, static_cast<std::size_t>(chosen.count) * sizeof(std::int64_t));
  known.set(to, chosen.places.data(), chosen.places.size() * sizeof(std::int64_t), chosen.trust);
  known.set(pointer(arguments, 3), &chosen.count, sizeof(chosen.count), chosen.trust);
  return true;
}

/// at::native::write_indices<Index>(places, Index sizes[], dimensions, Index count, ...): a place
/// becomes an index of each dimension, those of the first in front.
template <class Index>
bool run_indices(void** arguments, KnownBytes& known, Owns owns) {
  const void* const to = pointer(arguments, 0);
  if (!owns(to)) return false;
  const auto dimensions = static_cast<std::size_t>(at<int>(arguments[2]));
  const auto count = static_cast<std::size_t>(at<Index>(arguments[3]));
  Inputs inputs(known);
  Numbers places = inputs.numbers(to, count);
  Numbers indices(places.empty() ? 0 : dimensions * count);
  for (std::size_t dimension = dimensions; dimension-- > 0;) {
    const auto size = at<Index>(arguments[1], dimension * sizeof(Index));
    for (std::size_t i = 0; i < places.size(); ++i) {
      indices[dimension * count + i] = places[i] % size;
      places[i] /= size;
    }
  }
  put(known, to, {indices.data(), dimensions * count * sizeof(indices[0]), !indices.empty()},
      inputs);
  return true;
}

}  // namespace

bool is_count(const char* name) {
  const std::string_view text(name);
  if (has(text, kNonzero) || has(text, kTrues)) {
    return has(text, kOneBlock) || has(text, kBlocks) || has(text, kPlaces);
  }
  return is_sum_of_counts(text) || has(text, kNothingYet) || has(text, kIndices);
}

bool run_count(const char* name, void** arguments, unsigned blocks, KnownBytes& known, Owns owns) {
  if (has(name, "13write_indicesIiE")) return run_indices<std::int32_t>(arguments, known, owns);
  if (has(name, kIndices)) return run_indices<std::int64_t>(arguments, known, owns);
  if (has(name, kNothingYet)) {  // (scratch, blocks, count)
    known.forget(pointer(arguments, 2), sizeof(std::int32_t));
    return owns(pointer(arguments, 2));
  }
  if (has(name, kPlaces)) return run_places(name, arguments, known, owns);
  if (has(name, kNonzero) || has(name, kTrues))
    return run_reduce_of_elements(name, arguments, blocks, known, owns);
  return run_sum_of_counts(arguments, known, owns);
}

}  // namespace headroom::dry_run
