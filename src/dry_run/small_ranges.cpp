// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_ranges.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

struct Range {
  std::string_view mangled;  // of the functor that makes it
  std::size_t width;         // bytes of an element
  Bytes (*made)(const void* functor, std::size_t count);
};

template <class T, class Element>
Bytes made_of(std::size_t count, const Element& element) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value = element(i);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

/// {start, step}, of the type that sums have.
template <class T, class Sum = T>
Bytes arange(const void* functor, std::size_t count) {
  const auto start = at<Sum>(functor);
  const auto step = at<Sum>(functor, sizeof(Sum));
  return made_of<T>(
      count, [&](std::size_t i) { return static_cast<T>(start + step * static_cast<Sum>(i)); });
}

/// {start, end, how many, step, half of how many}: from both ends to the middle. The device rounds
/// a product and its sum once.
template <class T>
Bytes linspace(const void* functor, std::size_t count) {
  struct Functor {
    T start;
    T end;
    std::int64_t steps;
    T step;
    std::int64_t half;
  };
  const auto [start, end, steps, step, half] = at<Functor>(functor);
  return made_of<T>(count, [&](std::size_t i) {
    const auto index = static_cast<std::int64_t>(i);
    return index < half ? std::fma(step, static_cast<T>(index), start)
                        : std::fma(-step, static_cast<T>(steps - index - 1), end);
  });
}

/// A lambda of each type, numbered in the order of AT_DISPATCH_ALL_TYPES (ATen/Dispatch.h).
constexpr std::array kRanges{
    Range{"15arange_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlvE1_", 4,
          &arange<std::int32_t, std::int64_t>},
    Range{"15arange_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlvE2_", 8,
          &arange<std::int64_t>},
    Range{"15arange_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlvE4_", 8,
          &arange<double>},
    Range{"15arange_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlvE5_", 4,
          &arange<float>},
    Range{"17linspace_cuda_outERKN3c106ScalarES6_lRNS1_6TensorEENKUlvE0_clEvENKUlvE_", 8,
          &linspace<double>},
    Range{"17linspace_cuda_outERKN3c106ScalarES6_lRNS1_6TensorEENKUlvE0_clEvENKUlvE0_", 4,
          &linspace<float>},
};

/// Null: it is none.
const Range* find_range(std::string_view name) {
  if (name.find("elementwise_kernel_with_indexIi") == std::string_view::npos) return nullptr;
  for (const Range& range : kRanges) {
    if (name.find(range.mangled) != std::string_view::npos) return &range;
  }
  return nullptr;
}

}  // namespace

bool is_range(const char* name) { return find_range(name) != nullptr; }

/// elementwise_kernel_with_index(int count, functor, T* to).
bool run_range(const char* name, void** arguments, KnownBytes& known,
               bool (*owns)(const void* address)) {
  const Range& range = *find_range(name);
  const auto count = at<int>(arguments[0]);
  const auto* to = at<const void*>(arguments[2]);
  if (count < 1 || !owns(to)) return false;
  const std::size_t size = static_cast<std::size_t>(count) * range.width;
  if (size > KnownBytes::max_bytes(range.width)) {
    known.forget(to, size);
    return true;
  }
  const Bytes made = range.made(arguments[1], static_cast<std::size_t>(count));
  known.set(to, made.data(), size);
  return true;
}

}  // namespace headroom::dry_run
