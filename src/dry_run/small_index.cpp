// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_moves.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kIndexKernel = "24index_elementwise_kernelI";
constexpr std::string_view kReadByIndex = "17index_kernel_implI";
constexpr std::string_view kWriteByIndex = "21index_put_kernel_implI";
constexpr std::string_view kFillByIndex = "22index_fill_kernel_implI";
constexpr std::string_view kCopyByIndex = "22index_copy_kernel_implI";
constexpr std::string_view kTakeOrPut = "20cuda_take_put_kernelI";

/// index_elementwise_kernel(int64 count, lambda): the lambda holds {where elements lie, ...}.
struct IndexLaunch {
  IndexLaunch(void** arguments, std::size_t tensors)
      : count(at<std::size_t>(arguments[0])),
        places(arguments[1], tensors),
        rest(static_cast<const char*>(arguments[1]) +
             whole_parts(Offsets::bytes(tensors), alignof(void*))) {}

  template <class T = std::size_t>
  T word(std::size_t index) const {
    return at<T>(rest, index * sizeof(void*));
  }
  bool is_laid_out() const {
    if (count == 0 || !places.is_laid_out()) return false;
    std::size_t elements = 1;
    for (std::size_t i = 0; i < places.dimensions(); ++i) elements *= places.size(i);
    return elements == count;
  }

  std::size_t count;
  Offsets places;
  const char* rest;
};

/// One dimension that an index says where in.
struct IndexedDimension {
  Indices indices;
  std::int64_t size;
  std::size_t stride;  // bytes
};

/// What is not 0 is written into zeros, at places that are not known: which share of these is not 0
/// any more is. Samplers choose so by chance. False: it is another write.
bool put_share_of_written(const Moves& moves, std::size_t count, KnownBytes& known) {
  const auto are_zeros = [](const auto& bytes) {
    return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; });
  };
  const auto* const number = static_cast<const unsigned char*>(moves.number);
  std::vector<unsigned char> written;
  if (number != nullptr) {
    written.assign(number, number + moves.width);
  } else if (moves.from_reach == moves.width) {
    written = known.find(moves.from, moves.width);
  }
  const auto before = known.find(moves.to, moves.reach);
  if (are_zeros(written) || before.empty() || !are_zeros(before)) return false;
  const auto elements = static_cast<double>(moves.reach / moves.width);
  known.set_share(moves.to, moves.reach, std::min(1.0, static_cast<double>(count) / elements));
  return true;
}

/// {places of result, input and indices, result, input, how many tensors of indices, these[25],
/// sizes[25], strides[25]}, strides in bytes.
class IndexLists {
 public:
  IndexLists(const IndexLaunch& launch, std::size_t tensors, const KnownBytes& known)
      : launch_(launch) {
    const std::size_t reach = launch.places.last(2) + sizeof(std::int64_t);
    for (std::size_t i = 0; i < tensors; ++i) {
      all_.push_back({Indices(known, launch.word<const char*>(kFirst + i), reach, 8),
                      launch.word<std::int64_t>(kFirst + kMost + i),
                      launch.word(kFirst + 2 * kMost + i)});
    }
  }

  static constexpr std::size_t kFirst = 3;
  static constexpr std::size_t kMost = 25;
  static bool are_laid_out(const IndexLaunch& launch, std::size_t tensors, Owns owns) {
    if (tensors == 0 || tensors > kMost) return false;
    for (std::size_t i = 0; i < tensors; ++i) {
      if (!owns(launch.word<const void*>(kFirst + i)) ||
          launch.word<std::int64_t>(kFirst + kMost + i) < 1) {
        return false;
      }
    }
    return true;
  }

  bool has_all() const {
    return std::ranges::all_of(all_,
                               [](const IndexedDimension& each) { return each.indices.has_any(); });
  }
  /// In bytes from the place that the element would have without indices.
  std::optional<std::size_t> offset(std::size_t element) {
    const std::size_t place = launch_.places.of(element, 2);
    std::size_t offset = 0;
    for (IndexedDimension& each : all_) {
      const auto index = each.indices.at(place, each.size);
      if (!index) return std::nullopt;
      offset += *index * each.stride;
    }
    return offset;
  }
  std::size_t last() const {
    std::size_t offset = 0;
    for (const IndexedDimension& each : all_)
      offset += static_cast<std::size_t>(each.size - 1) * each.stride;
    return offset;
  }
  Trust trust() const {
    Trust trust;
    for (const IndexedDimension& each : all_) join(trust, each.indices.trust());
    return trust;
  }

 private:
  const IndexLaunch& launch_;
  std::vector<IndexedDimension> all_;
};

/// x[index] and x[index] = v.
bool run_lists(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const IndexLaunch launch(arguments, 3);
  const std::size_t width = opaque_bytes(name);
  const auto tensors = static_cast<std::size_t>(launch.word<int>(2));
  const auto* to = launch.word<const char*>(0);
  const auto* from = launch.word<const char*>(1);
  if (!launch.is_laid_out() || width == 0 || !owns(to) || !owns(from) ||
      !IndexLists::are_laid_out(launch, tensors, owns)) {
    return false;
  }
  const bool writes = has(name, kWriteByIndex);
  IndexLists lists(launch, tensors, known);
  Moves moves{.to = to,
              .reach = launch.places.last(0) + width + (writes ? lists.last() : 0),
              .from = from,
              .from_reach = launch.places.last(1) + width + (writes ? 0 : lists.last()),
              .width = width};
  if (!are_few(launch.count, width) || !lists.has_all()) {
    if (writes && put_share_of_written(moves, launch.count, known)) return true;
    return known.forget(to, moves.reach), true;
  }
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto offset = lists.offset(i);
    Move move{launch.places.of(i, 0), launch.places.of(i, 1)};
    if (writes && !offset) return known.forget(to, moves.reach), true;
    if (writes) {
      move.to += *offset;
    } else {
      move.from = offset ? std::optional(*move.from + *offset) : std::nullopt;
    }
    moves.list.push_back(move);
  }
  moves.trust = lists.trust();
  run_moves(moves, known);
  return true;
}

/// Along one dimension, {places, self, indices, (source,) size, stride (, number)}; the stride in
/// elements.
bool run_dimension(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const bool copies = has(name, kCopyByIndex);
  const IndexLaunch launch(arguments, copies ? 3 : 2);
  const std::size_t width = opaque_bytes(name);
  const auto* to = launch.word<const char*>(0);
  const auto* indices = launch.word<const char*>(1);
  const auto* from = copies ? launch.word<const char*>(2) : nullptr;
  const auto size = launch.word<std::int64_t>(copies ? 3 : 2);
  const std::size_t stride = launch.word(copies ? 4 : 3) * width;
  if (!launch.is_laid_out() || width == 0 || !owns(to) || !owns(indices) || size < 1 ||
      (copies && !owns(from))) {
    return false;
  }
  Moves moves{.to = to,
              .reach = launch.places.last(0) + static_cast<std::size_t>(size - 1) * stride + width,
              .from = from,
              .from_reach = copies ? launch.places.last(2) + width : 0,
              .width = width,
              .number = copies ? nullptr : launch.rest + 4 * sizeof(void*)};
  Indices chosen(known, indices, launch.places.last(1) + sizeof(std::int64_t), 8);
  if (!are_few(launch.count, width) || !chosen.has_any()) {
    if (put_share_of_written(moves, launch.count, known)) return true;
    return known.forget(to, moves.reach), true;
  }
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto index = chosen.at(launch.places.of(i, 1), size);
    if (!index) return known.forget(to, moves.reach), true;
    moves.list.push_back(
        {launch.places.of(i, 0) + *index * stride, copies ? launch.places.of(i, 2) : 0});
  }
  moves.trust = chosen.trust();
  run_moves(moves, known);
  return true;
}

/// take() and put_(), {places, iterated, indices, int64 elements, bool is_contiguous, where the
/// indexed ones lie (in elements), functor}; the functor holds {indexed}, or {elements, indexed}
/// where put_() adds. An index is one of all elements.
bool run_take_or_put(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const IndexLaunch launch(arguments, 2);
  const auto type = type_behind(name, kTakeOrPut);
  const bool takes = has(name, "11take_kernelE");
  const bool adds = !takes && !has(name, "iE0_EE") && !has(name, "lE0_EE");
  const auto* iterated = launch.word<const char*>(0);
  const auto* indices = launch.word<const char*>(1);
  const auto elements = launch.word<std::int64_t>(2);
  const bool is_contiguous = launch.word<bool>(3);
  constexpr std::size_t kPlacesOfIndexed = 3 * sizeof(void*) + sizeof(std::uint32_t);
  const Offsets places(launch.rest + kPlacesOfIndexed, 1);
  const std::size_t functor = whole_parts(kPlacesOfIndexed + Offsets::bytes(1), alignof(void*));
  const auto* indexed =
      at<const char*>(launch.rest, functor + (adds ? sizeof(void*) : std::size_t{0}));
  // Tensors of 2^31 elements and more are laid out in another way.
  const bool is_of_64_bits = has(name, "lE_EEv") || has(name, "lE0_EEv");
  if (!type || is_of_64_bits || !launch.is_laid_out() || elements < 1 || !places.is_laid_out() ||
      !owns(iterated) || !owns(indices) || !owns(indexed)) {
    return false;
  }
  const std::size_t width = bytes_of_type(*type);
  const std::size_t reach = places.last(0) * width + width;
  const std::size_t iterated_reach = launch.places.last(0) + width;
  Moves moves{.to = takes ? iterated : indexed,
              .reach = takes ? iterated_reach : reach,
              .from = takes ? indexed : iterated,
              .from_reach = takes ? reach : iterated_reach,
              .width = width,
              .joining = adds ? Joining::add : Joining::put,
              .type = *type};
  Indices chosen(known, indices, launch.places.last(1) + sizeof(std::int64_t), 8);
  if (!are_few(launch.count, width) || !chosen.has_any()) {
    return known.forget(moves.to, moves.reach), true;
  }
  for (std::size_t i = 0; i < launch.count; ++i) {
    const auto index = chosen.at(launch.places.of(i, 1), elements);
    if (!index && !takes) return known.forget(moves.to, moves.reach), true;
    std::optional<std::size_t> place;
    if (index) place = (is_contiguous ? *index : places.of(*index, 0)) * width;
    const std::size_t of_iterated = launch.places.of(i, 0);
    moves.list.push_back(takes ? Move{of_iterated, place} : Move{*place, of_iterated});
  }
  moves.trust = chosen.trust();
  run_moves(moves, known);
  return true;
}

}  // namespace

bool is_index(const char* name) {
  if (!has(name, kIndexKernel)) return false;
  return has(name, kReadByIndex) || has(name, kWriteByIndex) || has(name, kFillByIndex) ||
         has(name, kCopyByIndex) || has(name, kTakeOrPut);
}

bool run_index(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kReadByIndex) || has(name, kWriteByIndex))
    return run_lists(name, arguments, known, owns);
  if (has(name, kTakeOrPut)) return run_take_or_put(name, arguments, known, owns);
  return run_dimension(name, arguments, known, owns);
}

}  // namespace headroom::dry_run
