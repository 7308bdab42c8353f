// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_elements.h"

#include <algorithm>
#include <cstring>

namespace headroom::dry_run {
namespace {

constexpr std::size_t kMostFound = 1 << 16;  // one by one, which takes its time
constexpr std::size_t kMostTold = 1 << 14;   // that are told one by one

}  // namespace

Elements::Elements(const KnownBytes& known, const char* begin, std::size_t reach)
    : known_(known), begin_(begin), has_any_(known.has_any(begin, reach)) {
  if (!has_any_) return;
  all_ = known.find(begin, reach, &trust_of_all_);
  is_whole_ = !all_.empty() && !trust_of_all_.is_assumed;
  if (is_whole_) trust_ = trust_of_all_;
}

/// Where something is assumed it may be of other elements: each is looked up.
const unsigned char* Elements::at(std::size_t place, std::size_t width) {
  if (is_whole_) return &all_[place];
  if (!has_any_ || ++found_ > kMostFound) return nullptr;
  Trust trust;
  one_ = known_.find(begin_ + place, width, &trust);
  if (one_.empty()) return nullptr;
  join(trust_, trust);
  return one_.data();
}

std::optional<std::size_t> Indices::at(std::size_t place, std::int64_t size) {
  const unsigned char* const found = elements_.at(place, width_);
  if (found == nullptr) return std::nullopt;
  std::int64_t index = width_ == sizeof(std::int32_t) ? dry_run::at<std::int32_t>(found)
                                                      : dry_run::at<std::int64_t>(found);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return static_cast<std::size_t>(index);
}

void Writes::put(std::size_t place, const void* value, std::size_t width) {
  std::memcpy(&bytes_[place], value, width);
  std::fill_n(states_.begin() + static_cast<std::ptrdiff_t>(place), width, State::known);
}

void Writes::forget(std::size_t place, std::size_t width) {
  std::fill_n(states_.begin() + static_cast<std::ptrdiff_t>(place), width, State::unknown);
}

void Writes::tell(KnownBytes& known, const Trust& trust) const {
  if (tell_with_gaps(known, trust)) return;
  std::size_t runs = 0;
  for (std::size_t begin = 0; begin < states_.size(); begin = end_of_run(begin)) {
    if (++runs > kMostTold) return known.forget(begin_, bytes_.size());
  }
  for (std::size_t begin = 0; begin < states_.size();) {
    const std::size_t end = end_of_run(begin);
    if (states_[begin] == State::known) {
      known.set(begin_ + begin, &bytes_[begin], end - begin, trust);
    } else if (states_[begin] == State::unknown) {
      known.forget(begin_ + begin, end - begin);
    }
    begin = end;
  }
}

std::size_t Writes::end_of_run(std::size_t place) const {
  const auto begin = states_.begin() + static_cast<std::ptrdiff_t>(place);
  const auto end = std::find_if(begin, states_.end(), [&](State each) { return each != *begin; });
  return static_cast<std::size_t>(end - states_.begin());
}

/// At once, with what stands in the gaps, so that what is known lies in few ranges. False: there
/// are no gaps, or what stands there is not known as well as what was written.
bool Writes::tell_with_gaps(KnownBytes& known, const Trust& trust) const {
  const auto has = [&](State state) { return std::ranges::find(states_, state) != states_.end(); };
  if (trust.is_assumed || trust.is_doubted) return false;
  if (!has(State::untouched) || has(State::unknown)) return false;
  Trust of_gaps;
  std::vector<unsigned char> all = known.find(begin_, bytes_.size(), &of_gaps);
  if (all.empty() || of_gaps.is_assumed || of_gaps.is_doubted) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (states_[i] == State::known) all[i] = bytes_[i];
  }
  known.set(begin_, all.data(), all.size());
  return true;
}

}  // namespace headroom::dry_run
