// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_reductions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/dry_run/by_name.h"
#include "src/dry_run/parts.h"
#include "src/dry_run/small_formulas.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_reduce.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kReduction = "13reduce_kernelI";
constexpr std::string_view kOfType = "8ReduceOpI";

enum class Fold { sum, sum_of_numbers, mean, norm, variance, product, largest, smallest, any, all };

/// What a kernel makes of numbers of a type.
struct Reducer {
  Fold fold;
  c10::ScalarType type;
  std::size_t width_of_sum;  // bytes of what it goes on with
  bool is_compiled_late = false;
  bool finds_largest_too = false;  // which goes to the other destination

  /// Whether any holds, or all do, is a bool.
  bool is_check() const { return fold == Fold::any || fold == Fold::all; }
  Reduce::Form form() const {
    const std::size_t width = bytes_of_type(type);
    return {width, width_of_sum, is_check() ? sizeof(bool) : width, begin_of_config()};
  }
  /// Behind what it begins with, from which configuration it goes on: a functor, which is empty or
  /// a number, and what nothing gives; kernels that are compiled late have the latter alone. No
  /// less than an int.
  std::size_t begin_of_config() const {
    if (fold == Fold::variance) return 6 * bytes_of_type(type);
    if (finds_largest_too) return whole_parts(bytes_of_type(type) + width_of_sum, sizeof(int));
    return std::max(sizeof(int), (is_compiled_late ? 1 : 2) * width_of_sum);
  }
};

/// Whole numbers wrap around, and floats are rounded at the end.
template <class T>
T folded(Fold fold, T one, T other) {
  switch (fold) {
    case Fold::sum:
    case Fold::mean:
    case Fold::variance:
      return product_and_sum(T{1}, one, other);
    case Fold::sum_of_numbers:  // NaN is none
      return other != other ? one : product_and_sum(T{1}, one, other);
    case Fold::norm:
      return product_and_sum(other, other, one);
    case Fold::product:
      return product(one, other);
    case Fold::largest:
      return one != one || one > other ? one : other;
    case Fold::smallest:
      return one != one || one < other ? one : other;
    case Fold::any:
      return one != 0 || other != 0 ? T{1} : T{0};
    case Fold::all:
      return one != 0 && other != 0 ? T{1} : T{0};
  }
  return one;
}

/// Welford's functor holds what is taken off the count, and whether a root is taken.
template <class T>
double variance(const Reduce& reduce, std::size_t result, const Bytes& bytes, double sum,
                const void* functor) {
  const auto count = static_cast<double>(reduce.inputs_of_one());
  double squares = 0;
  for (std::size_t input = 0; input < reduce.inputs_of_one(); ++input) {
    const double apart = at<T>(bytes.data(), reduce.place_of_input(result, input)) - sum / count;
    squares += apart * apart;
  }
  const double found = squares / std::max(0.0, count - static_cast<double>(at<T>(functor)));
  return at<bool>(functor, sizeof(T)) ? std::sqrt(found) : found;
}

/// The results, as they lie; empty: an input is not known.
template <class T>
Bytes reduced(const Reducer& reducer, const Reduce& reduce, const void* operation, Inputs& inputs) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_same_v<T, bool>, int, T>>;
  const std::size_t most = KnownBytes::max_bytes(sizeof(T)) / sizeof(T);
  if (reduce.inputs_of_one() > most / reduce.results_in_all()) return {};
  const unsigned char gap = std::is_same_v<T, bool> && reducer.fold != Fold::any ? 1 : 0;
  const Bytes bytes = inputs.bytes(reduce.from(), reduce.reach(), gap);
  if (bytes.empty() || may_be_added_to<T>(bytes, inputs.trust())) return {};
  Bytes found(reduce.size());
  for (std::size_t result = 0; result < reduce.results_in_all(); ++result) {
    Sum sum = at<T>(bytes.data(), reduce.place_of_input(result, 0));
    if (reducer.is_check()) sum = sum != 0 ? 1 : 0;
    if (reducer.fold == Fold::norm) sum = product(sum, sum);
    if (reducer.fold == Fold::sum_of_numbers && sum != sum) sum = 0;
    for (std::size_t input = 1; input < reduce.inputs_of_one(); ++input) {
      sum =
          folded<Sum>(reducer.fold, sum, at<T>(bytes.data(), reduce.place_of_input(result, input)));
    }
    if (reducer.fold == Fold::mean) sum *= at<T>(operation);
    if constexpr (std::is_floating_point_v<T>) {
      if (reducer.fold == Fold::norm) sum = std::sqrt(sum);
      if (reducer.fold == Fold::variance) sum = variance<T>(reduce, result, bytes, sum, operation);
    }
    unsigned char* const place = &found[reduce.place_of_result(result)];
    const auto value = static_cast<T>(sum);
    if (reducer.is_check()) {
      *place = sum != 0 ? 1 : 0;
    } else {
      std::memcpy(place, &value, sizeof(value));
    }
  }
  return found;
}

/// The same letter, which names a type, again and again.
std::string repeated(std::string_view before, char type, std::size_t times) {
  return std::string(before) + std::string(times, type) + "E";
}

std::optional<Fold> fold_of(std::string_view name, char type) {
  if (has(name, repeated("sum_functorI", type, 3))) return Fold::sum;
  if (has(name, repeated("9NanSumOpsI", type, 2))) return Fold::sum_of_numbers;
  if (has(name, repeated("7MeanOpsI", type, 4))) return Fold::mean;
  if (has(name, "10NormTwoOpsI") && (type == 'f' || type == 'd')) return Fold::norm;
  if (has(name, "13MaxNanFunctorI")) return Fold::largest;
  if (has(name, "13MinNanFunctorI")) return Fold::smallest;
  if (has(name, "14or_kernel_cuda")) return Fold::any;
  if (has(name, "15and_kernel_cuda")) return Fold::all;
  return std::nullopt;
}

/// Nothing: it is none that is followed, nor are those of types that are classes.
std::optional<Reducer> look_for_reducer(std::string_view name) {
  if (name == kCompiledProduct) return Reducer{Fold::product, c10::ScalarType::Long, 8, true};
  const std::size_t found = name.find(kOfType);
  if (!has(name, kReduction) || found == std::string_view::npos) return std::nullopt;
  const auto type = type_behind(name, kOfType);
  if (!type || c10::isReducedFloatingType(*type)) return std::nullopt;
  if (has(name, "9MinMaxOpsI")) {
    return Reducer{.fold = Fold::smallest,
                   .type = *type,
                   .width_of_sum = 2 * bytes_of_type(*type),
                   .finds_largest_too = true};
  }
  if (has(name, "10WelfordOpsI")) return Reducer{Fold::variance, *type, 4 * bytes_of_type(*type)};
  const char letter = name[found + kOfType.size()];
  const auto fold = fold_of(name, letter);
  if (!fold) return std::nullopt;
  Reducer reducer{*fold, *type, bytes_of_type(*type)};
  // Of any type, whether they hold, since PyTorch 2.15.
  if (reducer.is_check() && has(name, std::string("EUlb") + letter + "E_")) {
    reducer.width_of_sum = sizeof(bool);
  }
  return reducer;
}

const std::optional<Reducer>& find_reducer(std::string_view name) {
  static auto& found = *new ByName<std::optional<Reducer>>(&look_for_reducer);
  return found(name);
}

/// Sums of whole numbers that are each 0 or 1. False: they are not known, one by one.
bool put_sums_of_flags(const Reduce& reduce, KnownBytes& known) {
  const Bytes flags = known.flags(reduce.from());
  if (flags.size() * sizeof(std::int64_t) != reduce.reach()) return false;
  Numbers sums(reduce.size() / sizeof(std::int64_t));
  for (std::size_t result = 0; result < reduce.results_in_all(); ++result) {
    std::int64_t& sum = sums[reduce.place_of_result(result) / sizeof(sum)];
    for (std::size_t input = 0; input < reduce.inputs_of_one(); ++input) {
      sum += flags[reduce.place_of_input(result, input) / sizeof(sum)];
    }
  }
  known.set(reduce.to(), sums.data(), reduce.size());
  return true;
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

/// The largest or the smallest of whole numbers below a limit, of which no more is known. False: it
/// is neither that is looked for, or there is no limit.
bool put_extreme(const Reducer& reducer, const Reduce& reduce, const void* to, KnownBytes& known) {
  const bool is_largest = reducer.fold == Fold::largest;
  const auto limit = known.limit(reduce.from());
  if (!limit || reducer.type != c10::ScalarType::Long) return false;
  if (!is_largest && reducer.fold != Fold::smallest) return false;
  const Numbers results(reduce.results_in_all(), is_largest ? *limit - 1 : 0);
  known.set(to, results.data(), results.size() * sizeof(results[0]), kAssumed);
  return true;
}

/// What a kernel that is compiled late begins with says which type it is of.
bool is_of_expected_type(const Reducer& reducer, const void* operation) {
  return !reducer.is_compiled_late || at<std::int64_t>(operation) == 1;
}

}  // namespace

bool is_reduction(const char* name) { return find_reducer(name).has_value(); }

bool is_of_all(const char* name) {
  const auto& reducer = find_reducer(name);
  return reducer && reducer->fold == Fold::all;
}

bool run_reduction(const char* name, const void* operation, KnownBytes& known, Owns owns) {
  const Reducer reducer = *find_reducer(name);
  if (!is_of_expected_type(reducer, operation)) return false;
  const Reduce reduce(operation, reducer.form());
  if (!reduce.is_laid_out() || !owns(reduce.from()) || !owns(reduce.to()) || !reduce.is_dense() ||
      (reducer.type != c10::ScalarType::Bool && !reduce.writes_once())) {
    return false;
  }
  // Beside the variance, the mean.
  if (reducer.fold == Fold::variance && reduce.also_to() != nullptr) return false;
  Inputs inputs(known);
  const auto found_by = [&](const Reducer& one) {
    Bytes bytes;
    with_type(one.type,
              [&](auto zero) { bytes = reduced<decltype(zero)>(one, reduce, operation, inputs); });
    return bytes;
  };
  const Bytes found = found_by(reducer);
  if (reducer.finds_largest_too) {
    if (!owns(reduce.also_to())) return false;
    Reducer other = reducer;
    other.fold = Fold::largest;
    const Bytes largest = found_by(other);
    if (!largest.empty() || !put_extreme(other, reduce, reduce.also_to(), known)) {
      put(known, reduce.also_to(), {largest.data(), reduce.size(), !largest.empty()}, inputs);
    }
  }
  if (found.empty() && put_extreme(reducer, reduce, reduce.to(), known)) return true;
  const auto share = known.share(reduce.from());
  if (found.empty() && reducer.is_check() && (share || reducer.fold == Fold::all)) {
    const double expected = share.value_or(1) * static_cast<double>(reduce.inputs_of_one());
    const double least =
        reducer.fold == Fold::all ? static_cast<double>(reduce.inputs_of_one()) - 0.5 : 0.5;
    const bool holds = expected > least;
    return known.fill(reduce.to(), holds ? 1 : 0, reduce.size(), kAssumed), true;
  }
  if (found.empty() && share && !known.limit(reduce.from()) && reducer.fold == Fold::sum &&
      reducer.type == c10::ScalarType::Long) {
    if (!put_sums_of_flags(reduce, known)) put_sums_of_ones(*share, reduce, known);
    return true;
  }
  if (found.empty() && reduce.results_in_all() == 1 && !reducer.is_check()) {
    return forget_one(known, reduce.to(), reducer.type), true;
  }
  put(known, reduce.to(), {found.data(), reduce.size(), !found.empty()}, inputs);
  return true;
}

}  // namespace headroom::dry_run
