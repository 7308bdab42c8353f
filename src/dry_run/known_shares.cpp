// SPDX-License-Identifier: Apache-2.0
// KnownBytes: what is known of many elements together, where they are too many to be kept.
#include <algorithm>
#include <utility>

#include "src/dry_run/by_address.h"
#include "src/dry_run/known_bytes.h"

namespace headroom::dry_run {

void KnownBytes::set_share(const void* at, std::size_t size, double share) {
  const std::lock_guard lock(mutex_);
  set_share_locked(number(at), {.size = size, .not_zero = share});
}

void KnownBytes::set_limit(const void* at, std::size_t size, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  set_limit_locked(number(at), size, limit);
}

void KnownBytes::set_flags(const void* at, std::size_t size, Bytes flags) {
  const auto ones = static_cast<double>(std::ranges::count(flags, 1));
  const double share = ones / static_cast<double>(std::max<std::size_t>(1, flags.size()));
  const std::lock_guard lock(mutex_);
  set_share_locked(number(at), {.size = size, .not_zero = share});
  flags_ = {number(at), size, std::move(flags)};
}

KnownBytes::Bytes KnownBytes::flags(const void* from) const {
  const std::lock_guard lock(mutex_);
  return flags_.begin == number(from) ? flags_.flags : Bytes{};
}

bool KnownBytes::copy_share(const void* at, std::size_t size, const void* from) {
  const std::lock_guard lock(mutex_);
  const Share* found = share_locked(number(from));
  if (found == nullptr) return false;
  Share share = *found;
  share.size = size;
  set_share_locked(number(at), share);
  return true;
}

std::optional<double> KnownBytes::share(const void* from) const {
  const std::lock_guard lock(mutex_);
  const Share* found = share_locked(number(from));
  return found == nullptr ? std::nullopt : std::optional(found->not_zero);
}

std::optional<double> KnownBytes::share_of_bytes(const void* from, std::size_t size) const {
  if (const auto found = share(from)) return found;
  const Bytes bytes = find(from, size);
  if (bytes.empty()) return std::nullopt;
  const auto zeros = std::ranges::count(bytes, 0);
  return 1 - static_cast<double>(zeros) / static_cast<double>(size);
}

std::optional<std::int64_t> KnownBytes::limit(const void* from) const {
  const std::lock_guard lock(mutex_);
  const Share* found = share_locked(number(from));
  return found == nullptr || found->limit == 0 ? std::nullopt : std::optional(found->limit);
}

bool KnownBytes::has_shares() const {
  const std::lock_guard lock(mutex_);
  return !shares_.empty();
}

void KnownBytes::set_share_locked(std::uintptr_t at, const Share& share) {
  forget_locked(at, share.size);
  shares_[at] = share;
}

void KnownBytes::set_limit_locked(std::uintptr_t at, std::size_t size, std::int64_t limit) {
  const double zeros = 1 / static_cast<double>(limit);
  set_share_locked(at, {.size = size, .not_zero = 1 - zeros, .limit = limit});
}

/// Null: there is none.
const KnownBytes::Share* KnownBytes::share_locked(std::uintptr_t from) const {
  const auto* found = range_around(shares_, from);
  return found == nullptr ? nullptr : &found->second;
}

}  // namespace headroom::dry_run
