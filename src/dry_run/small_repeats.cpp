// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_repeats.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kRepeat = "19compute_cuda_kernelI";

}  // namespace

bool is_repeat(const char* name) { return has(name, kRepeat) && type_behind(name, kRepeat); }

/// <T>(const T* how often, const int64* sums of these, T* to, int64 how many things, ...).
bool run_repeat(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const c10::ScalarType type = *type_behind(name, kRepeat);
  const std::size_t width = bytes_of_type(type);
  const void* const to = pointer(arguments, 2);
  const auto things = at<std::int64_t>(arguments[3]);
  if (!owns(pointer(arguments, 0)) || !owns(pointer(arguments, 1)) || !owns(to) || things < 1) {
    return false;
  }
  Inputs inputs(known);
  const Numbers ends = inputs.numbers(pointer(arguments, 1), static_cast<std::size_t>(things));
  if (ends.empty() || ends.back() < 0) return false;  // how much is written is not known either
  const std::size_t size = static_cast<std::size_t>(ends.back()) * width;
  if (size > KnownBytes::max_bytes(width)) return known.forget(to, size), true;
  Bytes result(size);
  std::size_t place = 0;
  for (std::int64_t thing = 0; thing < things; ++thing) {
    const std::int64_t end = ends[static_cast<std::size_t>(thing)];
    for (; place < size && static_cast<std::int64_t>(place / width) < end; place += width) {
      convert(&thing, c10::ScalarType::Long, &result[place], type);
    }
  }
  put(known, to, {result.data(), size, true}, inputs);
  return true;
}

}  // namespace headroom::dry_run
