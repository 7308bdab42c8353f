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

bool KnownBytes::read(void* to, const void* from, std::size_t size) const {
  const Bytes bytes = find(from, size);
  if (bytes.empty()) {
    std::memset(to, 0, size);
  } else {
    std::memcpy(to, bytes.data(), size);
  }
  return !bytes.empty();
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

KnownBytes::Bytes KnownBytes::find_locked(std::uintptr_t from, std::size_t size) const {
  const std::uintptr_t end = from + size;
  Bytes found;
  auto range = ranges_.upper_bound(from);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < end; ++range) {
    const auto& [first, bytes] = *range;
    const std::uintptr_t begin = std::max(first, from);
    const std::uintptr_t last = std::min(first + bytes.size(), end);
    if (begin >= last) continue;
    found.resize(size);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin - first), last - begin,
                found.begin() + static_cast<std::ptrdiff_t>(begin - from));
  }
  return found;
}

}  // namespace headroom::dry_run
