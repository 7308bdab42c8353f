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

/// A thread by itself is the first of its warp, and knows what that one has.
void Threads::shuffle(const Instruction& instruction) {
  std::array<const std::uint64_t*, kMostOperands> from{};
  const bool is_alone = count_ == 1 && first_ % kWarp == 0;
  bool is_known = (is_alone || count_ % kWarp == 0) && instruction.from.size() >= kMostOperands;
  for (std::size_t i = 0; i < kMostOperands && is_known; ++i) {
    from.at(i) = read(instruction.from[i], spaces_.at(i));
    is_known = from.at(i) != nullptr;
  }
  Lanes insides(count_);
  for (std::size_t i = 0; i < count_ && is_known; ++i) {
    const Source source = source_of(instruction.shuffle, i % kWarp, from[1][i], from[2][i]);
    if (is_alone && source.lane != 0) is_known = false;
    if (!is_known) break;
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

/// Matrices of 8 x 8 numbers of 16 bits. The threads 8 i to 8 i + 7 of a warp have the addresses of
/// the i-th one's rows; each thread gets two numbers of each, the first in the lower half (PTX,
/// "ldmatrix").
void Threads::load_matrices(const Instruction& instruction) {
  constexpr std::size_t kRows = 8;
  constexpr std::uint64_t kBytes = 2;
  const std::uint64_t* rows = read(instruction.from.front(), spaces_[0]);
  for (std::size_t matrix = 0; matrix < instruction.to.size(); ++matrix) {
    bool is_known = rows != nullptr && count_ % kWarp == 0 && is_for_all_;
    for (std::size_t i = 0; i < count_ && is_known; ++i) {
      const std::size_t lane = i % kWarp;
      results_[i] = 0;
      for (std::size_t half = 0; half < 2 && is_known; ++half) {
        const std::size_t along = 2 * (lane % 4) + half;
        const std::size_t row = instruction.is_transposed ? along : lane / 4;
        const std::size_t column = instruction.is_transposed ? lane / 4 : along;
        const std::uint64_t begin = rows[i - lane + matrix * kRows + row];
        const std::uint64_t offset = static_cast<std::uint64_t>(instruction.offset);
        std::uint64_t number = 0;
        is_known = shared_.load(begin + offset + column * kBytes, kBytes, number);
        results_[i] |= number << (16 * half);
      }
    }
    set(instruction.to[matrix], results_, is_known);
  }
}

}  // namespace headroom::ptx
