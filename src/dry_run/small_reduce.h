// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"

// How PyTorch's reduce_kernel is told what it reduces.
namespace headroom::dry_run {

/// {functor, identity, {bytes of what is kept, inputs of a result, results, ...}, where inputs lie,
/// where results and their first inputs lie, source, destination, another destination, a buffer of
/// sums that several launches add up, and two buffers of the blocks}.
struct Reduce {
  /// Bytes.
  struct Form {
    std::size_t width;            // of an element
    std::size_t width_of_kept;    // of what it goes on with
    std::size_t width_of_result;  // that goes to the first destination
    std::size_t begin;            // of what stands behind functor and identity
  };

  Reduce(const void* operation, const Form& form)
      : width(form.width),
        width_of_kept(form.width_of_kept),
        width_of_result(form.width_of_result),
        counts(at<std::array<int, 3>>(operation, form.begin)),
        places(behind(operation, form.begin + kConfigBytes), 1),
        results(behind(operation, form.begin + kConfigBytes + Offsets::bytes(1)), 2),
        pointers(at<std::array<const void*, 6>>(operation, pointers_at(form.begin))) {}

  bool is_laid_out() const {
    return counts[0] == static_cast<int>(width_of_kept) && counts[1] >= 1 && counts[2] >= 1 &&
           places.is_laid_out() && results.is_laid_out();
  }
  /// Several blocks may join what they have by way of buffers, of which nobody reads. The other
  /// destination is not set where there is none.
  bool writes_once() const { return pointers[3] == nullptr; }
  std::size_t inputs_of_one() const { return static_cast<std::size_t>(counts[1]); }
  std::size_t results_in_all() const { return static_cast<std::size_t>(counts[2]); }
  const void* from() const { return pointers[0]; }
  const void* to() const { return pointers[1]; }
  const void* also_to() const { return pointers[2]; }
  /// Bytes up to the last input's end.
  std::size_t reach() const { return results.last(kInputs) + places.last(0) + width; }
  /// Likewise of the results.
  std::size_t reach_of_results() const { return results.last(kResults) + width_of_result; }
  std::size_t size() const { return results_in_all() * width_of_result; }
  bool is_dense() const { return reach_of_results() == size(); }
  std::size_t place_of_input(std::size_t result, std::size_t input) const {
    return results.of(result, kInputs) + places.of(input, 0);
  }
  std::size_t place_of_result(std::size_t result) const { return results.of(result, kResults); }

  std::size_t width;
  std::size_t width_of_kept;
  std::size_t width_of_result;
  std::array<int, 3> counts;
  Offsets places;
  Offsets results;
  std::array<const void*, 6> pointers;

 private:
  static constexpr std::size_t kConfigBytes = 64;
  static constexpr std::size_t kResults = 0;
  static constexpr std::size_t kInputs = 1;

  static const char* behind(const void* operation, std::size_t bytes) {
    return static_cast<const char*>(operation) + bytes;
  }
  static std::size_t pointers_at(std::size_t begin) {
    const std::size_t end = begin + kConfigBytes + Offsets::bytes(1) + Offsets::bytes(2);
    return whole_parts(end, alignof(void*));
  }
};

}  // namespace headroom::dry_run
