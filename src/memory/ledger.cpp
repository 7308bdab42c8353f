// SPDX-License-Identifier: Apache-2.0
#include "src/memory/ledger.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace headroom {
namespace {

/// By bytes and then by what they are, so that equal runs give equal reports.
bool comes_before(const PeakTensors& a, const PeakTensors& b) {
  if (a.bytes != b.bytes) return a.bytes > b.bytes;
  if (a.category != b.category) return a.category > b.category;
  if (a.origin.phase != b.origin.phase) return a.origin.phase < b.origin.phase;
  if (a.origin.block != b.origin.block) return a.origin.block < b.origin.block;
  return std::strcmp(a.origin.op, b.origin.op) < 0;
}

/// Counts those that are alike.
std::vector<PeakTensors> merged(std::vector<PeakTensors> single) {
  std::sort(single.begin(), single.end(), &comes_before);
  std::vector<PeakTensors> list;
  for (const PeakTensors& tensors : single) {
    if (list.empty() || comes_before(list.back(), tensors)) {
      list.push_back(tensors);
    } else {
      ++list.back().count;
    }
  }
  return list;
}

}  // namespace

void Ledger::allocated(const void* address, std::int64_t bytes, std::int64_t rounding) {
  const std::lock_guard lock(mutex_);
  // What a thread that nobody watches has freed stays in the allocator's own count for good. So it
  // does here, under an address that nothing has.
  if (const std::optional<Allocation> lost = live_.take(address)) {
    live_.insert(reinterpret_cast<const void*>(2 * ++events_ + 1), *lost);
  }
  const Allocation made{
      .bytes = bytes, .rounding = rounding, .born = ++events_, .origin = current_position()};
  live_.insert(address, made);
  current_ += bytes + rounding;
  note_peak(made);
  note_place();
}

void Ledger::freed(const void* address) {
  const std::lock_guard lock(mutex_);
  const std::optional<Allocation> dead = live_.take(address);
  if (!dead) return;
  ++events_;
  current_ -= dead->bytes + dead->rounding;
  if (dead->born <= peak_event_) died_since_peak_.push_back(*dead);
  note_place();
}

void Ledger::set_rounding(const void* address, std::int64_t rounding) {
  const std::lock_guard lock(mutex_);
  Allocation* const found = live_.find(address);
  if (found == nullptr) return;
  current_ += rounding - found->rounding;
  found->rounding = rounding;
  note_peak(*found);
  // No place is noted: the rounding of a block that is freed at once is told by its bound.
}

void Ledger::note_peak(const Allocation& newest) {
  if (current_ <= peak_) return;
  peak_ = current_;
  peak_event_ = events_;
  // Operators are not followed all the time. On CUDA a later step may reach the old peak's place
  // with a little more rounding: the operator there is the one that was seen before.
  const bool same_place =
      newest.origin.phase == peak_position_.phase && newest.origin.block == peak_position_.block;
  const char* const op =
      *newest.origin.op == '\0' && same_place ? peak_position_.op : newest.origin.op;
  peak_position_ = newest.origin;
  peak_position_.op = op;
  died_since_peak_.clear();
}

void Ledger::tag(const at::Tensor& tensor, Category category) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  const std::lock_guard lock(mutex_);
  Allocation* const found = live_.find(tensor.storage().data());
  if (found != nullptr) found->category = std::max(found->category, category);
}

std::int64_t Ledger::current_bytes() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::int64_t Ledger::current_bytes(Category category) const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  live_.for_each([&](const Allocation& allocation) {
    if (allocation.category == category) sum += allocation.bytes;
  });
  return sum;
}

PeakReport Ledger::peak() const {
  const std::lock_guard lock(mutex_);
  PeakReport report{.bytes = peak_, .where = peak_position_};
  const auto add = [&](const Allocation& allocation) {
    report.by_category[static_cast<std::size_t>(allocation.category)] += allocation.bytes;
    report.by_category[static_cast<std::size_t>(Category::rounding)] += allocation.rounding;
    report.tensors.push_back({1, allocation.bytes, allocation.category, allocation.origin});
  };
  live_.for_each([&](const Allocation& allocation) {
    if (allocation.born <= peak_event_) add(allocation);
  });
  for (const Allocation& allocation : died_since_peak_) add(allocation);
  report.tensors = merged(std::move(report.tensors));
  return report;
}

void Ledger::start_places() {
  const std::lock_guard lock(mutex_);
  follows_places_ = true;
  places_.clear();
}

std::vector<PlaceMemory> Ledger::end_places() {
  const std::lock_guard lock(mutex_);
  follows_places_ = false;
  return std::exchange(places_, {});
}

void Ledger::note_place() {
  if (!follows_places_) return;
  const Position here = current_position();
  const bool is_new =
      places_.empty() || here.phase != places_.back().phase || here.block != places_.back().block;
  if (is_new && places_.size() == kMaxPlaces) follows_places_ = false;
  if (is_new && follows_places_) places_.push_back({here.phase, here.block, current_});
  if (!is_new) places_.back().bytes = std::max(places_.back().bytes, current_);
}

}  // namespace headroom
