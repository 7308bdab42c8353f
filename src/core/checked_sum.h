// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace headroom {

/// A sum of integers that a file gave: whatever they are, it never overflows unseen.
class CheckedSum {
 public:
  /// Adds `value` so many times.
  void add(std::int64_t count, std::int64_t value) {
    std::int64_t product = 0;
    overflows_ |= __builtin_mul_overflow(count, value, &product) ||
                  __builtin_add_overflow(sum_, product, &sum_);
  }
  /// Whether the sum ever passed what an integer holds.
  bool overflows() const { return overflows_; }
  std::string text() const {
    return overflows_ ? "more than an integer holds" : std::to_string(sum_);
  }
  friend bool operator==(const CheckedSum& sum, std::int64_t value) {
    return !sum.overflows_ && sum.sum_ == value;
  }

 private:
  std::int64_t sum_ = 0;
  bool overflows_ = false;
};

}  // namespace headroom
