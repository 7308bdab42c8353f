// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/known_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "src/dry_run/by_address.h"
#include "src/dry_run/whole_numbers.h"
#include "src/dry_run/zeros.h"

namespace headroom::dry_run {
namespace {

bool are_bools(const unsigned char* bytes, std::size_t size) {
  constexpr std::size_t kAtOnce = 4096;  // which a compiler turns into few instructions
  for (std::size_t begin = 0; begin < size; begin += kAtOnce) {
    unsigned char bits = 0;
    for (std::size_t i = begin; i < std::min(size, begin + kAtOnce); ++i) bits |= bytes[i];
    if (bits > 1) return false;
  }
  return true;
}

bool are_zeros(const unsigned char* bytes, std::size_t size) {
  return std::all_of(bytes, bytes + size, [](unsigned char one) { return one == 0; });
}

}  // namespace

bool KnownBytes::are_object(const void* bytes, std::size_t size) {
  const auto begin = [&](std::array<unsigned char, 3> expected, std::size_t count) {
    return size > count && std::memcmp(bytes, expected.data(), count) == 0;
  };
  if (size > kMaxBytesOfObject) return false;
  return begin({0x80, 4}, 2) || begin({0x80, 5}, 2) || begin({'P', 'K', 3}, 3);
}

void KnownBytes::set(const void* to, const void* bytes, std::size_t size, Trust trust) {
  const auto* first = static_cast<const unsigned char*>(bytes);
  if (knows_no_more_than_limit(to, first, size)) return;
  const std::lock_guard lock(mutex_);
  set_locked(number(to), range_of(Bytes(first, first + size), trust));
}

void KnownBytes::set(const void* to, Bytes bytes) {
  if (knows_no_more_than_limit(to, bytes.data(), bytes.size())) return;
  const std::lock_guard lock(mutex_);
  set_locked(number(to), range_of(std::move(bytes), {}));
}

bool KnownBytes::knows_no_more_than_limit(const void* to, const unsigned char* bytes,
                                          std::size_t size) {
  // Many zeros read as what is not known does, and would take memory of the host's.
  if (is_kept(bytes, size) && (size <= kMaxBytes || !are_zeros(bytes, size))) return false;
  const auto extremes = extremes_of(bytes, size);
  if (!extremes || extremes->smallest < 0) return forget(to, size), true;
  return set_limit(to, size, extremes->largest + 1), true;
}

void KnownBytes::set_partly(const void* to, const PartlyKnown& bytes, std::size_t size,
                            Trust trust) {
  if (bytes.bytes.empty() || !is_kept(bytes.bytes.data(), size)) return forget(to, size);
  const std::lock_guard lock(mutex_);
  set_partly_locked(number(to), range_of(bytes.bytes, trust), bytes.gaps);
}

void KnownBytes::fill(const void* to, int byte, std::size_t size, Trust trust) {
  if (size > kMaxBytes) return forget(to, size);
  const std::lock_guard lock(mutex_);
  set_locked(number(to), range_of(Bytes(size, static_cast<unsigned char>(byte)), trust));
}

void KnownBytes::copy(const void* to, const void* from, std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (!is_followed_locked(number(from), size)) return forget_locked(number(to), size);
  std::vector<bool> gaps;
  Range found = find_locked(number(from), size, &gaps);
  if (found.bytes.empty()) return copy_guess_locked(number(to), number(from), size);
  found.is_object &= size > kMaxBytes;
  set_partly_locked(number(to), std::move(found), gaps);
}

void KnownBytes::forget(const void* at, std::size_t size) {
  const std::lock_guard lock(mutex_);
  forget_locked(number(at), size);
}

void KnownBytes::guess(const void* at, std::size_t size, Bytes element) {
  const std::lock_guard lock(mutex_);
  forget_locked(number(at), size);
  guesses_[number(at)] = {size, std::move(element)};
}

void KnownBytes::guess_below(const void* at, std::size_t size, std::int64_t limit, Bytes element) {
  const std::lock_guard lock(mutex_);
  set_limit_locked(number(at), size, limit);
  guesses_[number(at)] = {size, std::move(element)};
}

void KnownBytes::forget_assumed() {
  const std::lock_guard lock(mutex_);
  if (!may_assume_) return;
  may_assume_ = false;
  std::erase_if(ranges_, [this](const auto& each) {
    if (!each.second.is_assumed) return false;
    bytes_ -= each.second.counted();
    return true;
  });
}

void KnownBytes::doubt_all() {
  const std::lock_guard lock(mutex_);
  ++doubts_;
}

bool KnownBytes::has_any(const void* from, std::size_t size) const {
  const std::uintptr_t begin = number(from);
  const std::lock_guard lock(mutex_);
  const auto behind = ranges_.lower_bound(begin + size);
  if (behind == ranges_.begin()) return false;
  const auto& [first, range] = *std::prev(behind);
  return first + range.bytes.size() > begin;
}

std::vector<unsigned char> KnownBytes::find(const void* from, std::size_t size,
                                            Trust* trust) const {
  Trust of_known;
  PartlyKnown found = find_partly(from, size, &of_known);
  if (trust != nullptr) {
    trust->is_assumed |= of_known.is_assumed || !found.gaps.empty();
    trust->is_doubted |= of_known.is_doubted;
  }
  return std::move(found.bytes);
}

PartlyKnown KnownBytes::find_partly(const void* from, std::size_t size, Trust* trust) const {
  const std::lock_guard lock(mutex_);
  if (!is_followed_locked(number(from), size)) return {};
  PartlyKnown found;
  Range range = find_locked(number(from), size, &found.gaps);
  trust->is_assumed |= range.is_assumed;
  trust->is_doubted |= range.doubts == kDoubted;
  found.bytes = std::move(range.bytes);
  return found;
}

bool KnownBytes::read(void* to, const void* from, std::size_t size) const {
  const std::lock_guard lock(mutex_);
  if (!is_followed_locked(number(from), size)) {
    set_to_zero(to, size);
    return false;
  }
  std::vector<bool> gaps;
  const Range found = find_locked(number(from), size, &gaps);
  if (found.bytes.empty()) {
    read_guess_locked(static_cast<unsigned char*>(to), number(from), size);
    return false;
  }
  std::memcpy(to, found.bytes.data(), size);
  return gaps.empty() && !found.is_assumed && found.doubts != kDoubted;
}

bool KnownBytes::is_kept(const void* bytes, std::size_t size) {
  if (size <= kMaxBytes || are_object(bytes, size)) return true;
  if (size <= kMaxBytesOfMask && are_bools(static_cast<const unsigned char*>(bytes), size)) {
    return true;
  }
  return size <= kMaxBytesOfNumbers && extremes_of(bytes, size).has_value();
}

KnownBytes::Range KnownBytes::range_of(Bytes bytes, Trust trust) const {
  const bool is_object = bytes.size() > kMaxBytes && are_object(bytes.data(), bytes.size());
  return {std::move(bytes), trust.is_assumed, trust.is_doubted ? kDoubted : doubts_, is_object};
}

/// Whether what stands there is not too much, or there is an object in it, or no more than whole
/// numbers may be and all is known.
bool KnownBytes::is_followed_locked(std::uintptr_t from, std::size_t size) const {
  if (size <= kMaxBytes) return true;
  if (size > (had_object_ ? kMaxBytesOfObject : kMaxBytesOfMask)) return false;
  auto range = ranges_.upper_bound(from);
  if (range != ranges_.begin()) --range;
  std::size_t known = 0;
  for (; range != ranges_.end() && range->first < from + size; ++range) {
    const std::uintptr_t end = range->first + range->second.size();
    if (end <= from) continue;
    if (range->second.is_object) return true;
    known += std::min(end, from + size) - std::max(range->first, from);
  }
  return size <= kMaxBytesOfMask && known == size;
}

void KnownBytes::set_locked(std::uintptr_t to, Range range) {
  const std::size_t size = range.bytes.size();
  forget_locked(to, size);
  if (range.is_object) forget_doubted_objects_locked();
  if (size == 0 || !make_room_locked(range.counted())) return;
  bytes_ += range.counted();
  may_assume_ |= range.is_assumed;
  had_object_ |= range.is_object;
  ranges_.emplace(to, std::move(range));
}

void KnownBytes::set_partly_locked(std::uintptr_t to, Range range, const std::vector<bool>& gaps) {
  if (gaps.empty()) return set_locked(to, std::move(range));
  constexpr int kMostRuns = 1 << 14;
  forget_locked(to, gaps.size());
  int runs = 0;
  for (auto begin = gaps.begin(); begin != gaps.end();) {
    const auto end = std::find(begin, gaps.end(), !*begin);
    if (!*begin) {
      if (++runs > kMostRuns) return forget_locked(to, gaps.size());
      const auto first = range.bytes.begin() + (begin - gaps.begin());
      set_locked(
          to + static_cast<std::uintptr_t>(begin - gaps.begin()),
          {Bytes(first, first + (end - begin)), range.is_assumed, range.doubts, range.is_object});
    }
    begin = end;
  }
}

/// Large ranges go first, most likely weights; small ones are lengths and labels, by which programs
/// go on. Of those of a size what may have been written over does. False: the others are as small.
bool KnownBytes::make_room_locked(std::size_t size) {
  const auto is_there = [&] { return bytes_ + size <= kMaxBytesInAll; };
  for (std::size_t kept = kMaxBytesOfNumbers; !is_there(); kept /= 2) {
    forget_larger_locked(kept, /*is_only_doubted=*/true);
    if (is_there()) return true;
    if (size > kept) return false;
    forget_larger_locked(kept, /*is_only_doubted=*/false);
  }
  return true;
}

void KnownBytes::forget_larger_locked(std::size_t most, bool is_only_doubted) {
  std::erase_if(ranges_, [&](const auto& each) {
    const Range& range = each.second;
    if (range.counted() <= most || (is_only_doubted && range.doubts == doubts_)) return false;
    bytes_ -= range.counted();
    return true;
  });
}

/// Those that another kernel may have been written over since, so that they end some time.
void KnownBytes::forget_doubted_objects_locked() {
  std::erase_if(ranges_, [this](const auto& each) {
    return each.second.is_object && each.second.doubts != doubts_;
  });
}

/// Of a range that lies there in part, the other parts stay known.
void KnownBytes::forget_locked(std::uintptr_t begin, std::size_t size) {
  const std::uintptr_t end = begin + size;
  erase_in(shares_, begin, end);
  erase_in(guesses_, begin, end);
  if (flags_.begin < end && begin < flags_.begin + flags_.size) flags_ = {};
  auto range = ranges_.lower_bound(begin);
  if (range != ranges_.begin()) {
    const auto before = std::prev(range);
    if (before->first + before->second.bytes.size() > begin) range = before;
  }
  while (range != ranges_.end() && range->first < end) {
    const std::uintptr_t first = range->first;
    const Range whole = std::move(range->second);
    bytes_ -= whole.counted();
    range = ranges_.erase(range);
    const auto keep = [&](std::size_t from, std::size_t to) {
      const auto at = whole.bytes.begin();
      Range part{
          Bytes(at + static_cast<std::ptrdiff_t>(from), at + static_cast<std::ptrdiff_t>(to)),
          whole.is_assumed, whole.doubts, whole.is_object};
      bytes_ += part.counted();
      return ranges_.emplace(first + from, std::move(part)).first;
    };
    if (first < begin) keep(0, begin - first);
    if (first + whole.size() > end) range = std::next(keep(end - first, whole.size()));
  }
}

void KnownBytes::read_guess_locked(unsigned char* to, std::uintptr_t from, std::size_t size) const {
  std::fill_n(to, size, static_cast<unsigned char>(0));
  const auto* found = range_around(guesses_, from);
  if (found == nullptr) return;
  const auto& [begin, guess] = *found;
  const std::size_t known = std::min<std::size_t>(size, begin + guess.size - from);
  for (std::size_t i = 0; i < known; ++i) {
    to[i] = guess.element[(from - begin + i) % guess.element.size()];
  }
}

void KnownBytes::copy_guess_locked(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
  std::optional<Guess> guess;
  const auto* found = range_around(guesses_, from);
  const auto is_at_element = [&] {
    return (from - found->first) % found->second.element.size() == 0;
  };
  if (found != nullptr && is_at_element()) {
    guess = {std::min<std::size_t>(size, found->first + found->second.size - from),
             found->second.element};
  }
  forget_locked(to, size);
  if (guess) guesses_[to] = std::move(*guess);
}

/// `gaps`: which of them are not known, where some are.
KnownBytes::Range KnownBytes::find_locked(std::uintptr_t from, std::size_t size,
                                          std::vector<bool>* gaps) const {
  const std::uintptr_t end = from + size;
  Range found{.bytes = {}, .doubts = doubts_};
  std::size_t known = 0;
  auto range = ranges_.upper_bound(from);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < end; ++range) {
    const std::uintptr_t first = range->first;
    const Bytes& bytes = range->second.bytes;
    const std::uintptr_t begin = std::max(first, from);
    const std::uintptr_t last = std::min(first + bytes.size(), end);
    if (begin >= last) continue;
    if (found.bytes.empty()) {
      found.bytes.resize(size);
      gaps->assign(size, true);
    }
    std::fill_n(gaps->begin() + static_cast<std::ptrdiff_t>(begin - from), last - begin, false);
    known += last - begin;
    found.is_assumed |= range->second.is_assumed;
    found.is_object |= range->second.is_object;
    if (range->second.doubts != doubts_) found.doubts = kDoubted;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin - first), last - begin,
                found.bytes.begin() + static_cast<std::ptrdiff_t>(begin - from));
  }
  if (known == size) gaps->clear();
  return found;
}

}  // namespace headroom::dry_run
