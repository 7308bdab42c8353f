// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/core/enum_names.h"
#include "src/memory/address_map.h"
#include "src/memory/position.h"

namespace headroom {

/// What a live allocation is for. Where two would fit, the later one holds: a weight that is saved
/// for backward stays a weight.
enum class Category {
  temporary,        // anything a step makes and drops that is none of those below
  activations,      // saved for backward
  communication,    // buffers of collectives
  batch,            // inputs and labels
  optimizer_state,  // moments, momentum, step counters
  gradients,        // of parameters
  weights,          // parameters, in every precision they are kept in, and buffers
  rounding,         // what the allocator hands out beyond what was asked for
};

inline constexpr std::size_t kCategories = enum_names<Category>().size();

/// Allocations that were live at the peak and are alike.
struct PeakTensors {
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // of each of them, as asked for
  Category category = Category::temporary;
  Position origin{};  // where they were made
};

/// The most bytes that were live while the program was at one place of a step.
struct PlaceMemory {
  Phase phase = Phase::build;
  std::int64_t block = kNoBlock;
  std::int64_t bytes = 0;  // rounding included, but for that of the newest one on CUDA
};

/// The most bytes that were live at once, and what they were.
struct PeakReport {
  std::int64_t bytes = 0;                               // rounding included
  std::array<std::int64_t, kCategories> by_category{};  // sums to `bytes`
  Position where;                                       // of the allocation that made the peak
  std::vector<PeakTensors> tensors{};                   // all of them, largest bytes first
};

/// Keeps every live allocation of one device with its category and its origin, and from them the
/// peak and its parts. It is fed by the allocator's own reports (device_memory); its sums
/// are its own, so that comparing them with the allocator's count is a test of both.
///
/// A category often is known only later than the allocation (a buffer becomes a gradient when
/// autograd hands it over), so the ledger keeps what was live at the peak, also after it died,
/// until a higher peak comes. Thread-safe.
class Ledger {
 public:
  static constexpr std::size_t kMaxPlaces = 4096;

  /// `rounding`: bytes that the allocator hands out beyond `bytes`.
  void allocated(const void* address, std::int64_t bytes, std::int64_t rounding);
  void freed(const void* address);
  /// What the allocator rounded up, where it tells only after the allocation. To be called before
  /// any other event.
  void set_rounding(const void* address, std::int64_t rounding);
  /// Says what the tensor's whole storage is for. Ignored for undefined tensors and for memory that
  /// came from elsewhere. A lower category never replaces a higher one.
  void tag(const at::Tensor& tensor, Category category);

  std::int64_t current_bytes() const;
  /// Live bytes of one category, rounding left out.
  std::int64_t current_bytes(Category category) const;
  PeakReport peak() const;

  /// From here on the ledger notes the places that the program comes to, and what was live there.
  void start_places();
  /// The places since start_places(), in the order of time: at most kMaxPlaces, the first ones.
  std::vector<PlaceMemory> end_places();

 private:
  struct Allocation {
    std::int64_t bytes = 0;
    std::int64_t rounding = 0;
    std::uint64_t born = 0;  // number of the event that made it
    Position origin;
    Category category = Category::temporary;
  };

  void note_peak(const Allocation& newest);
  void note_place();

  mutable std::mutex mutex_;
  AddressMap<Allocation> live_;
  std::vector<Allocation> died_since_peak_;  // live at the peak, freed since
  std::uint64_t events_ = 0;
  std::int64_t current_ = 0;
  std::int64_t peak_ = 0;
  std::uint64_t peak_event_ = 0;
  Position peak_position_;
  bool follows_places_ = false;
  std::vector<PlaceMemory> places_;
};

}  // namespace headroom
