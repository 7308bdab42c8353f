// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/small_launch.h"

// Tensors of which some elements are known and others are not, as kernels read and write them in an
// order that numbers say. Places are in bytes from where a tensor begins.
namespace headroom::dry_run {

/// What holds of either holds of both.
inline void join(Trust& one, const Trust& other) {
  one.is_assumed |= other.is_assumed;
  one.is_doubted |= other.is_doubted;
}

/// Elements that are read, of a tensor that reaches over so many bytes.
class Elements {
 public:
  Elements(const KnownBytes& known, const char* begin, std::size_t reach);

  /// False: nothing of the tensor is known.
  bool has_any() const { return has_any_; }
  /// Null: it is not known. Stands until the next one is read.
  const unsigned char* at(std::size_t place, std::size_t width);
  /// Of all that was read so far.
  Trust trust() const { return trust_; }
  /// Whether they may be other ones by now, as dry_run::may_be_added_to() says.
  template <class T>
  bool may_be_added_to() const {
    return dry_run::may_be_added_to<T>(all_, trust_of_all_);
  }

 private:
  const KnownBytes& known_;
  const char* begin_;
  bool has_any_;
  std::vector<unsigned char> all_;  // with zeros for those that are not known
  std::vector<unsigned char> one_;  // the last that was read, where some are not known
  Trust trust_of_all_;
  Trust trust_;
  bool is_whole_ = false;
  std::size_t found_ = 0;  // one by one
};

/// Numbers by which elements are chosen.
class Indices {
 public:
  /// `width`: bytes of one, 4 or 8.
  Indices(const KnownBytes& known, const char* begin, std::size_t reach, std::size_t width)
      : elements_(known, begin, reach), width_(width) {}

  bool has_any() const { return elements_.has_any(); }
  /// Which of `size` elements is meant, where numbers below 0 count from the end. Nothing: it is
  /// not known, or there is no such element.
  std::optional<std::size_t> at(std::size_t place, std::int64_t size);
  Trust trust() const { return elements_.trust(); }

 private:
  Elements elements_;
  std::size_t width_;
};

/// Elements that are written, of a tensor that reaches over KnownBytes::kMaxBytes at most.
class Writes {
 public:
  enum class State : unsigned char { untouched, known, unknown };

  Writes(const char* begin, std::size_t reach)
      : begin_(begin), bytes_(reach), states_(reach, State::untouched) {}

  void put(std::size_t place, const void* value, std::size_t width);
  /// Something that is not known is written.
  void forget(std::size_t place, std::size_t width);
  State state(std::size_t place) const { return states_[place]; }
  const unsigned char* at(std::size_t place) const { return &bytes_[place]; }
  /// Brings what is known up to date. What was not written stays.
  void tell(KnownBytes& known, const Trust& trust) const;

 private:
  std::size_t end_of_run(std::size_t place) const;
  bool tell_with_gaps(KnownBytes& known, const Trust& trust) const;

  const char* begin_;
  std::vector<unsigned char> bytes_;
  std::vector<State> states_;
};

}  // namespace headroom::dry_run
