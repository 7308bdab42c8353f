// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/dry_run/known_bytes.h"

// How a launch of a small kernel is read: its arguments, and what is known of what they point to.
namespace headroom::dry_run {

using Numbers = std::vector<std::int64_t>;

template <class T>
T at(const void* memory, std::size_t offset = 0) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(memory) + offset, sizeof(value));
  return value;
}

using Owns = bool (*)(const void* address);  // whether an address is a device's

inline const void* pointer(void** arguments, std::size_t index) {
  return at<const void*>(arguments[index]);
}

/// Of a range that is looked at as bools: {pointer, functor}, or the other way round before CUDA
/// 13. Null: it is neither.
inline const void* first_element(const void* range, Owns owns) {
  for (const std::size_t place : {std::size_t{0}, sizeof(void*)}) {
    if (const auto* found = at<const void*>(range, place); owns(found)) return found;
  }
  return nullptr;
}

/// Whether a part stands in a kernel's mangled name.
inline bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// The bytes of an element, in "OpaqueTypeILj8E" or "OpaqueTypeILi8E"; 0: it is not there.
inline std::size_t opaque_bytes(std::string_view name) {
  constexpr std::string_view kType = "OpaqueTypeIL";
  const std::size_t found = name.find(kType);
  std::size_t bytes = 0;
  if (found == std::string_view::npos) return bytes;
  name.remove_prefix(found + kType.size() + 1);
  std::from_chars(name.data(), name.data() + name.size(), bytes);
  return bytes;
}

/// What a launch reads. What is made of something assumed is assumed as well.
class Inputs {
 public:
  explicit Inputs(const KnownBytes& known) : known_(known) {}

  /// Empty: none of them is known. `gap` stands for each of those that are not, where some are.
  std::vector<unsigned char> bytes(const void* from, std::size_t size, unsigned char gap = 0) {
    PartlyKnown found = partly(from, size);
    trust_.is_assumed |= !found.gaps.empty();
    for (std::size_t i = 0; gap != 0 && i < found.gaps.size(); ++i) {
      if (found.gaps[i]) found.bytes[i] = gap;
    }
    return std::move(found.bytes);
  }
  PartlyKnown partly(const void* from, std::size_t size) {
    return known_.find_partly(from, size, &trust_);
  }
  Numbers numbers(const void* from, std::size_t count) {
    const auto found = bytes(from, count * sizeof(std::int64_t));
    Numbers numbers(found.size() / sizeof(std::int64_t));
    std::memcpy(numbers.data(), found.data(), numbers.size() * sizeof(std::int64_t));
    return numbers;
  }
  Trust trust() const { return trust_; }

 private:
  const KnownBytes& known_;
  Trust trust_;
};

/// Whether numbers may be other ones by now: kernels that are not followed often add to what was
/// filled before, which is all alike. What was sent counts.
template <class T>
bool may_be_added_to(const std::vector<unsigned char>& bytes, Trust trust) {
  if (std::is_integral_v<T> || !trust.is_doubted) return false;
  for (std::size_t i = sizeof(T); i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    if (at<T>(bytes.data(), i) != at<T>(bytes.data())) return false;
  }
  return true;
}

/// What it makes of them.
struct Result {
  const void* bytes;
  std::size_t size;
  bool is_known;
};

inline void put(KnownBytes& known, const void* to, const Result& result, const Inputs& inputs) {
  if (!result.is_known) return known.forget(to, result.size);
  known.set(to, result.bytes, result.size, inputs.trust());
}

/// Of numbers that are each as often, from 0 up to a limit: which are a certain one, or which
/// differ from it.
inline void put_matches(KnownBytes& known, const void* to, std::size_t count, std::int64_t limit,
                        bool differs) {
  const double share = 1 / static_cast<double>(limit);
  known.set_share(to, count, differs ? 1 - share : share);
}

/// So many bools that are all the same, whatever they are made of. Of many it is their share that
/// is known, also when they become numbers of eight bytes, which are summed.
inline void put_same(KnownBytes& known, const void* to, std::size_t count, bool holds) {
  if (count > KnownBytes::kMaxBytes / sizeof(std::int64_t)) {
    return known.set_share(to, count, holds ? 1 : 0);
  }
  known.fill(to, holds ? 1 : 0, count, kAssumed);
}

/// at::native::vectorized_elementwise_kernel(int count, functor, std::array<char*, N> data, ...):
/// the first of data is written, the others are read.
struct Elementwise {
  explicit Elementwise(void** arguments)
      : count(static_cast<std::size_t>(at<int>(arguments[0]))),
        functor(arguments[1]),
        data(arguments[2]) {}

  const void* pointer(std::size_t index) const {
    return at<const void*>(data, index * sizeof(const void*));
  }

  std::size_t count;
  const void* functor;
  const void* data;
};

}  // namespace headroom::dry_run
