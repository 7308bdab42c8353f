// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_sort.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_order.h"
#include "src/dry_run/small_tensor_info.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kBitonic = "20bitonicSortKVInPlaceI";
constexpr std::string_view kMerge = "22warpMergeSortKVInPlaceI";
constexpr std::string_view kRadix = "18radixSortKVInPlaceI";

/// What a kernel's name says: <dimensions of the keys, of the values, threads, ..., type of the
/// keys, of the values, (order,) type of sizes>.
struct SortForm {
  std::string_view kernel;
  std::size_t threads = 0;
  c10::ScalarType type = c10::ScalarType::Undefined;
};

std::optional<SortForm> sort_form(std::string_view name) {
  for (const std::string_view kernel : {kBitonic, kMerge, kRadix}) {
    const std::size_t place = name.find(kernel);
    if (place == std::string_view::npos) continue;
    SortForm form{.kernel = kernel};
    std::string_view types = name.substr(place + kernel.size());
    for (int i = 0; types.starts_with("Li"); ++i) {
      if (i == 2) std::from_chars(types.data() + 2, types.data() + types.size(), form.threads);
      types.remove_prefix(std::min(types.size(), types.find('E') + 1));
    }
    const auto type = take_type(types);
    // Tensors of 2^31 elements and more have sizes of 8 bytes.
    const bool is_wide = kernel == kRadix ? types.starts_with("lm") : has(types, "EEEm");
    if (!type || !types.starts_with('l') || is_wide) return std::nullopt;
    form.type = *type;
    return form;
  }
  return std::nullopt;
}

/// (keys, unsigned rows, length of one, stride in it, values, stride in a row of these, bool
/// is_descending or an order that holds nothing).
struct SortLaunch {
  SortLaunch(const SortForm& form, std::string_view name, void** arguments)
      : keys(arguments[0]),
        values(arguments[4]),
        rows(at<std::uint32_t>(arguments[1])),
        length(at<std::uint32_t>(arguments[2])),
        key_step(at<std::uint32_t>(arguments[3])),
        value_step(at<std::uint32_t>(arguments[5])),
        is_descending(form.kernel == kRadix ? at<bool>(arguments[6]) : has(name, "4GTOpI")),
        width(bytes_of_type(form.type)) {}

  bool is_laid_out(Owns owns) const {
    return keys.is_laid_out() && values.is_laid_out() && rows > 0 && length > 0 &&
           owns(keys.data()) && owns(values.data());
  }
  std::size_t reach_of_keys() const { return (keys.reach() + (length - 1) * key_step) * width; }
  std::size_t reach_of_values() const {
    return (values.reach() + (length - 1) * value_step) * sizeof(std::int64_t);
  }
  std::size_t key(std::size_t row, std::size_t i) const {
    return (keys.of(row) + i * key_step) * width;
  }
  std::size_t value(std::size_t row, std::size_t i) const {
    return (values.of(row) + i * value_step) * sizeof(std::int64_t);
  }

  TensorInfo keys;
  TensorInfo values;
  std::size_t rows;
  std::size_t length;
  std::size_t key_step;
  std::size_t value_step;
  bool is_descending;
  std::size_t width;
};

template <class T>
struct Pair {
  T key{};
  std::int64_t value = 0;
  bool is_valid = true;
};

/// As the kernel goes about it, since it does not keep the order of what is the same.
template <class T>
void sort_bitonic(std::vector<Pair<T>>& pairs, std::size_t threads, bool is_descending) {
  const std::size_t length = pairs.size();
  const std::size_t places = 2 * threads;
  pairs.resize(places, {.is_valid = false});
  const auto exchange = [&](std::size_t stride, std::size_t direction) {
    for (std::size_t thread = 0; thread < threads; ++thread) {
      Pair<T>& one = pairs[2 * thread - (thread & (stride - 1))];
      Pair<T>& other = pairs[2 * thread - (thread & (stride - 1)) + stride];
      const bool is_in_order =
          (comes_first(one.key, other.key, is_descending) && one.is_valid) || !other.is_valid;
      if (is_in_order == ((thread & direction) != 0)) std::swap(one, other);
    }
  };
  for (std::size_t size = 2; size < places; size *= 2) {
    for (std::size_t stride = size / 2; stride > 0; stride /= 2) exchange(stride, size / 2);
  }
  for (std::size_t stride = places / 2; stride > 0; stride /= 2) exchange(stride, 0);
  pairs.resize(length);
}

template <class T>
void sort_pairs(const SortForm& form, bool is_descending, std::vector<Pair<T>>& pairs) {
  if (form.kernel == kBitonic) return sort_bitonic(pairs, form.threads, is_descending);
  const bool is_by_bits = form.kernel == kRadix;
  std::ranges::stable_sort(pairs, [&](const Pair<T>& one, const Pair<T>& other) {
    if (!is_by_bits) return comes_first(one.key, other.key, is_descending);
    return comes_first(ordered_bits(one.key), ordered_bits(other.key), is_descending);
  });
}

/// A row; nothing: some of it is not known.
template <class T>
std::optional<std::vector<Pair<T>>> row_of(const SortLaunch& launch, std::size_t row,
                                           Elements& keys, Elements& values) {
  std::vector<Pair<T>> pairs;
  for (std::size_t i = 0; i < launch.length; ++i) {
    const unsigned char* const key = keys.at(launch.key(row, i), launch.width);
    const unsigned char* const value = values.at(launch.value(row, i), sizeof(std::int64_t));
    if (key == nullptr || value == nullptr) return std::nullopt;
    pairs.push_back({at<T>(key), at<std::int64_t>(value)});
  }
  return pairs;
}

template <class T>
void sort_rows(const SortForm& form, const SortLaunch& launch, KnownBytes& known) {
  Elements keys(known, launch.keys.data(), launch.reach_of_keys());
  Elements values(known, launch.values.data(), launch.reach_of_values());
  Writes to_keys(launch.keys.data(), launch.reach_of_keys());
  Writes to_values(launch.values.data(), launch.reach_of_values());
  Trust trust;
  for (std::size_t row = 0; row < launch.rows; ++row) {
    auto pairs = row_of<T>(launch, row, keys, values);
    if (pairs) sort_pairs(form, launch.is_descending, *pairs);
    for (std::size_t i = 0; i < launch.length; ++i) {
      if (pairs) {
        to_keys.put(launch.key(row, i), &(*pairs)[i].key, launch.width);
        to_values.put(launch.value(row, i), &(*pairs)[i].value, sizeof(std::int64_t));
        continue;
      }
      trust.is_assumed = true;
      to_keys.forget(launch.key(row, i), launch.width);
      const std::size_t place = launch.value(row, i);
      const unsigned char* const value = values.at(place, sizeof(std::int64_t));
      if (value != nullptr) to_values.put(place, value, sizeof(std::int64_t));
    }
  }
  join(trust, keys.trust());
  join(trust, values.trust());
  to_keys.tell(known, trust);
  to_values.tell(known, trust);
}

}  // namespace

bool is_sort_in_place(const char* name) { return sort_form(name).has_value(); }

bool run_sort_in_place(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const SortForm form = *sort_form(name);
  const SortLaunch launch(form, name, arguments);
  const bool is_too_long = form.kernel == kBitonic && launch.length > 2 * form.threads;
  if (!launch.is_laid_out(owns) || is_too_long) return false;
  if (launch.reach_of_keys() > KnownBytes::max_bytes(launch.width) ||
      launch.reach_of_values() > KnownBytes::kMaxBytesOfNumbers) {
    known.forget(launch.keys.data(), launch.reach_of_keys());
    known.forget(launch.values.data(), launch.reach_of_values());
    return true;
  }
  with_type(form.type, [&](auto zero) { sort_rows<decltype(zero)>(form, launch, known); });
  return true;
}

}  // namespace headroom::dry_run
