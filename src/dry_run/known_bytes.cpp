// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/known_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace headroom::dry_run {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

void KnownBytes::set(const void* to, const void* bytes, std::size_t size) {
  if (size > kMaxBytes) return forget(to, size);
  const auto* first = static_cast<const unsigned char*>(bytes);
  const std::lock_guard lock(mutex_);
  set_locked(number(to), Bytes(first, first + size));
}

void KnownBytes::fill(const void* to, int byte, std::size_t size) {
  if (size > kMaxBytes) return forget(to, size);
  const std::lock_guard lock(mutex_);
  set_locked(number(to), Bytes(size, static_cast<unsigned char>(byte)));
}

void KnownBytes::copy(const void* to, const void* from, std::size_t size) {
  if (size > kMaxBytes) return forget(to, size);
  const std::lock_guard lock(mutex_);
  Bytes bytes = find_locked(number(from), size);
  if (bytes.empty()) return forget_locked(number(to), size);
  set_locked(number(to), std::move(bytes));
}

void KnownBytes::forget(const void* at, std::size_t size) {
  const std::lock_guard lock(mutex_);
  forget_locked(number(at), size);
}

void KnownBytes::forget_all() {
  const std::lock_guard lock(mutex_);
  ranges_.clear();
  bytes_ = 0;
}

std::vector<unsigned char> KnownBytes::find(const void* from, std::size_t size) const {
  if (size > kMaxBytes) return {};
  const std::lock_guard lock(mutex_);
  return find_locked(number(from), size);
}

void KnownBytes::read(void* to, const void* from, std::size_t size) const {
  const Bytes bytes = find(from, size);
  if (bytes.empty()) {
    std::memset(to, 0, size);
  } else {
    std::memcpy(to, bytes.data(), size);
  }
}

void KnownBytes::set_locked(std::uintptr_t to, Bytes bytes) {
  forget_locked(to, bytes.size());
  if (bytes.empty() || bytes_ + bytes.size() > kMaxBytesInAll) return;
  bytes_ += bytes.size();
  ranges_.emplace(to, std::move(bytes));
}

/// Of a range that lies there in part, the other parts stay known.
void KnownBytes::forget_locked(std::uintptr_t begin, std::size_t size) {
  const std::uintptr_t end = begin + size;
  auto range = ranges_.lower_bound(begin);
  if (range != ranges_.begin()) {
    const auto before = std::prev(range);
    if (before->first + before->second.size() > begin) range = before;
  }
  while (range != ranges_.end() && range->first < end) {
    const auto [first, bytes] = std::move(*range);
    bytes_ -= bytes.size();
    range = ranges_.erase(range);
    if (first < begin) {
      const auto kept = static_cast<std::ptrdiff_t>(begin - first);
      bytes_ += begin - first;
      ranges_.emplace(first, Bytes(bytes.begin(), bytes.begin() + kept));
    }
    if (first + bytes.size() > end) {
      const auto dropped = static_cast<std::ptrdiff_t>(end - first);
      bytes_ += bytes.size() - (end - first);
      range = ranges_.emplace(end, Bytes(bytes.begin() + dropped, bytes.end())).first;
      ++range;
    }
  }
}

/// Empty where not all of them are known.
KnownBytes::Bytes KnownBytes::find_locked(std::uintptr_t from, std::size_t size) const {
  Bytes found;
  auto range = ranges_.upper_bound(from);
  if (range == ranges_.begin()) return {};
  --range;
  while (found.size() < size) {
    const std::uintptr_t at = from + found.size();
    if (range == ranges_.end() || at < range->first) return {};
    const std::size_t offset = at - range->first;
    if (offset >= range->second.size()) return {};
    const std::size_t count = std::min(size - found.size(), range->second.size() - offset);
    const auto begin = range->second.begin() + static_cast<std::ptrdiff_t>(offset);
    found.insert(found.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    ++range;
  }
  return found;
}

}  // namespace headroom::dry_run
