// SPDX-License-Identifier: Apache-2.0
// Threads: what those of a warp tell each other.
#include <algorithm>

#include "src/ptx/threads.h"

namespace headroom::ptx {
namespace {

/// The lane that gives `lane` its number, and whether it lies in the segment (PTX, "shfl.sync").
struct Source {
  std::uint64_t lane;
  bool is_inside;
};
Source source_of(Shuffle shuffle, std::uint64_t lane, std::uint64_t by, std::uint64_t limits) {
  const std::uint64_t segment = limits >> 8 & 31;
  const std::uint64_t last = (lane & segment) | (limits & 31 & ~segment);
  by &= 31;
  Source source{lane, true};
  switch (shuffle) {
    case Shuffle::up:
      source.is_inside = lane >= by + last;
      source.lane = lane - by;
      break;
    case Shuffle::down:
      source.lane = lane + by;
      source.is_inside = source.lane <= last;
      break;
    case Shuffle::butterfly:
      source.lane = lane ^ by;
      source.is_inside = source.lane <= last;
      break;
    case Shuffle::index:
      source.lane = (lane & segment) | (by & ~segment);
      source.is_inside = source.lane <= last;
      break;
  }
  if (!source.is_inside) source.lane = lane;
  return source;
}

}  // namespace

void Threads::shuffle(const Instruction& instruction) {
  std::array<const std::uint64_t*, kMostOperands> from{};
  bool is_known = count_ % kWarp == 0 && instruction.from.size() >= kMostOperands;
  for (std::size_t i = 0; i < kMostOperands && is_known; ++i) {
    from.at(i) = read(instruction.from[i], spaces_.at(i));
    is_known = from.at(i) != nullptr;
  }
  Lanes insides(count_);
  for (std::size_t i = 0; i < count_ && is_known; ++i) {
    const Source source = source_of(instruction.shuffle, i % kWarp, from[1][i], from[2][i]);
    results_[i] = from[0][i / kWarp * kWarp + source.lane];
    insides[i] = source.is_inside ? 1 : 0;
  }
  if (!instruction.to.empty()) set(instruction.to[0], results_, is_known);
  if (instruction.to.size() > 1) set(instruction.to[1], insides, is_known);
}

/// Of 32 bits each, as the warp's threads that the mask names have it: all of them.
void Threads::sum_of_warp(const Instruction& instruction) {
  if (instruction.to.empty() || instruction.from.empty()) return;
  const std::uint64_t* from = read(instruction.from[0], spaces_[0]);
  const bool is_known = from != nullptr && count_ % kWarp == 0 && is_for_all_;
  for (std::size_t i = 0; i < count_ && is_known; i += kWarp) {
    std::uint64_t sum = 0;
    for (std::size_t lane = 0; lane < kWarp; ++lane) sum += from[i + lane];
    std::fill_n(results_.begin() + static_cast<std::ptrdiff_t>(i), kWarp, sum & 0xffffffff);
  }
  set(instruction.to.front(), results_, is_known);
}

}  // namespace headroom::ptx
