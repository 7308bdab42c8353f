// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_reductions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kReduction = "13reduce_kernelI";
constexpr std::string_view kMax = "13MaxNanFunctorI";
constexpr std::string_view kMin = "13MinNanFunctorI";
constexpr std::string_view kReductionOfBools = "ReduceOpIbNS0_14func_wrapper_tIb";

/// {functor, identity, {bytes of an element, inputs of a result, results, ...}, where inputs lie,
/// where results and their first inputs lie, source, destination, another destination, a buffer of
/// sums that several launches add up, and two buffers of the blocks}.
struct Reduce {
  static constexpr std::size_t kConfigBytes = 64;

  /// Functor and identity take two elements, and no less than an int; pointers begin at multiples
  /// of 8 bytes.
  Reduce(const void* operation, std::size_t width_of_one)
      : Reduce(static_cast<const char*>(operation), std::max(sizeof(int), 2 * width_of_one),
               width_of_one) {}

  bool is_laid_out() const {
    return counts[0] == static_cast<int>(width) && counts[1] >= 1 && counts[2] >= 1 &&
           places.is_laid_out() && results.is_laid_out();
  }
  /// Several blocks may join what they have by way of buffers, of which nobody reads.
  bool writes_once() const { return pointers[2] == nullptr && pointers[3] == nullptr; }
  std::size_t inputs_of_one() const { return static_cast<std::size_t>(counts[1]); }
  std::size_t results_in_all() const { return static_cast<std::size_t>(counts[2]); }
  const void* from() const { return pointers[0]; }
  const void* to() const { return pointers[1]; }
  /// Bytes up to the last input's end.
  std::size_t reach() const { return results.last(kInputs) + places.last(0) + width; }
  bool is_dense() const { return results.last(kResults) + width == results_in_all() * width; }
  std::size_t place_of_input(std::size_t result, std::size_t input) const {
    return results.of(result, kInputs) + places.of(input, 0);
  }
  std::size_t place_of_result(std::size_t result) const { return results.of(result, kResults); }

  static constexpr std::size_t kResults = 0;
  static constexpr std::size_t kInputs = 1;
  std::size_t width;
  std::array<int, 3> counts;
  Offsets places;
  Offsets results;
  std::array<const void*, 6> pointers;

 private:
  Reduce(const char* operation, std::size_t config, std::size_t width_of_one)
      : width(width_of_one),
        counts(at<std::array<int, 3>>(operation, config)),
        places(operation + config + kConfigBytes, 1),
        results(operation + config + kConfigBytes + Offsets::bytes(1), 2),
        pointers(at<std::array<const void*, 6>>(operation, pointers_at(config))) {}

  static std::size_t pointers_at(std::size_t config) {
    const std::size_t end = config + kConfigBytes + Offsets::bytes(1) + Offsets::bytes(2);
    return (end + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
  }
};

/// So many are looked at.
constexpr std::size_t kMostInputs = KnownBytes::kMaxBytes;

/// The results, as they lie; empty: an input is not known. `join`: of what was found and the next.
template <class T, class Join>
Bytes reduced(const Reduce& reduce, Inputs& inputs, const Join& join) {
  if (reduce.inputs_of_one() > kMostInputs / reduce.results_in_all()) return {};
  const Bytes bytes = inputs.bytes(reduce.from(), reduce.reach());
  if (bytes.empty()) return {};
  Bytes found(reduce.results_in_all() * sizeof(T));
  for (std::size_t result = 0; result < reduce.results_in_all(); ++result) {
    T value = at<T>(bytes.data(), reduce.place_of_input(result, 0));
    for (std::size_t input = 1; input < reduce.inputs_of_one(); ++input) {
      value = join(value, at<T>(bytes.data(), reduce.place_of_input(result, input)));
    }
    std::memcpy(&found[reduce.place_of_result(result)], &value, sizeof(value));
  }
  return found;
}

bool is_of_bools(std::string_view name) { return has(name, kReductionOfBools); }

/// The type of the largest or smallest of whole numbers; nothing: it is none such. Of floats what
/// was filled is often added to by kernels that are not followed.
std::optional<c10::ScalarType> extreme_type(std::string_view name) {
  if (!has(name, kMax) && !has(name, kMin)) return std::nullopt;
  const auto type = type_behind(name, "8ReduceOpI");
  return type && c10::isIntegralType(*type, /*includeBool=*/false) ? type : std::nullopt;
}

bool is_sum_of_32_bits(std::string_view name) { return has(name, "sum_functorIiiiE"); }
bool is_sum_of_64_bits(std::string_view name) { return has(name, "sum_functorIlllE"); }
bool is_sum(std::string_view name) { return is_sum_of_32_bits(name) || is_sum_of_64_bits(name); }

std::size_t width_of(std::string_view name) {
  if (is_of_bools(name)) return sizeof(bool);
  if (is_sum_of_32_bits(name)) return sizeof(std::int32_t);
  const auto type = extreme_type(name);
  return type ? bytes_of_type(*type) : sizeof(std::int64_t);
}

template <class T>
Bytes extremes(bool is_max, const Reduce& reduce, Inputs& inputs) {
  return reduced<T>(reduce, inputs, [=](T one, T other) {
    return is_max ? std::max(one, other) : std::min(one, other);
  });
}

template <class T>
Bytes sums(const Reduce& reduce, Inputs& inputs) {
  return reduced<T>(reduce, inputs, [](T one, T other) {
    return static_cast<T>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
  });
}

Bytes reduced_numbers(std::string_view name, const Reduce& reduce, Inputs& inputs) {
  if (is_sum(name)) {
    return is_sum_of_32_bits(name) ? sums<std::int32_t>(reduce, inputs)
                                   : sums<std::int64_t>(reduce, inputs);
  }
  Bytes found;
  with_type(*extreme_type(name),
            [&](auto zero) { found = extremes<decltype(zero)>(has(name, kMax), reduce, inputs); });
  return found;
}

/// Of numbers of which that share is 1, and the others are 0. The results add up to what all do.
void put_sums_of_ones(double share, const Reduce& reduce, KnownBytes& known) {
  const double each = share * static_cast<double>(reduce.inputs_of_one());
  Numbers sums;
  for (std::size_t i = 0; i < reduce.results_in_all(); ++i) {
    const auto before = static_cast<double>(i);
    sums.push_back(std::llround(each * (before + 1)) - std::llround(each * before));
  }
  known.set(reduce.to(), sums.data(), sums.size() * sizeof(sums[0]), kAssumed);
}

bool is_of_any(std::string_view name) { return is_of_bools(name) && has(name, "14or_kernel_cuda"); }

}  // namespace

bool is_reduction(const char* name) {
  return has(name, kReduction) &&
         (is_sum(name) || extreme_type(name) || is_of_any(name) || is_of_all(name));
}

bool is_of_all(const char* name) {
  return has(name, kReduction) && is_of_bools(name) && has(name, "15and_kernel_cuda");
}

bool run_reduction(const char* name, const void* operation, KnownBytes& known, Owns owns) {
  const Reduce reduce(operation, width_of(name));
  if (!reduce.is_laid_out() || !owns(reduce.from()) || !owns(reduce.to()) || !reduce.is_dense() ||
      (!is_of_bools(name) && !reduce.writes_once())) {
    return false;
  }
  const std::size_t size = reduce.results_in_all() * reduce.width;
  Inputs inputs(known);
  Bytes found;
  if (is_of_all(name)) {
    found = reduced<bool>(reduce, inputs, [](bool one, bool other) { return one && other; });
    if (found.empty()) return known.fill(reduce.to(), 1, size, kAssumed), true;
  } else if (is_of_any(name)) {
    found = reduced<bool>(reduce, inputs, [](bool one, bool other) { return one || other; });
  } else {
    found = reduced_numbers(name, reduce, inputs);
    const auto share = known.share(reduce.from());
    if (found.empty() && share && !known.limit(reduce.from()) && is_sum_of_64_bits(name)) {
      return put_sums_of_ones(*share, reduce, known), true;
    }
  }
  put(known, reduce.to(), {found.data(), size, !found.empty()}, inputs);
  return true;
}

}  // namespace headroom::dry_run
