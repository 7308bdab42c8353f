// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_searches.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kSearch = "24searchsorted_cuda_kernelI";

/// Rows of so many.
struct Rows {
  const Bytes& bytes;
  std::size_t length;
};

/// How many of each number's row are less, or no larger.
template <class T>
Numbers counted(const Rows& numbers, const Rows& limits, bool has_one_row, bool counts_equal) {
  Numbers counts;
  for (std::size_t i = 0; i < numbers.bytes.size() / sizeof(T); ++i) {
    const T number = at<T>(numbers.bytes.data(), i * sizeof(T));
    const std::size_t row = has_one_row ? 0 : i / numbers.length;
    std::int64_t count = 0;
    for (std::size_t j = 0; j < limits.length; ++j) {
      const T limit = at<T>(limits.bytes.data(), (row * limits.length + j) * sizeof(T));
      if (counts_equal ? limit <= number : limit < number) ++count;
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

bool is_search(const char* name) { return has(name, kSearch) && type_behind(name, kSearch); }

/// <T, Result>(Result* to, const T* numbers, const T* limits, const int64* order of these, int64
/// numbers in a row, limits in a row, numbers, bool counts equal ones, bool one row of limits).
bool run_search(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const c10::ScalarType type = *type_behind(name, kSearch);
  const std::size_t width = bytes_of_type(type);
  const auto number = [&](std::size_t index) { return at<std::int64_t>(arguments[index]); };
  const void* const to = pointer(arguments, 0);
  const bool has_one_row = at<bool>(arguments[8]);
  if (!owns(to) || !owns(pointer(arguments, 1)) || number(4) < 1 || number(5) < 0 ||
      number(6) < 1) {
    return false;
  }
  const bool is_of_32_bits = std::string_view(name).find("iEEv") != std::string_view::npos;
  const auto result_type = is_of_32_bits ? c10::ScalarType::Int : c10::ScalarType::Long;
  const std::size_t result_width = bytes_of_type(result_type);
  const auto count = static_cast<std::size_t>(number(6));
  const auto in_row = static_cast<std::size_t>(number(4));
  const auto limits_in_row = static_cast<std::size_t>(number(5));
  const std::size_t rows = has_one_row ? 1 : count / in_row;
  const std::size_t size = count * result_width;
  Inputs inputs(known);
  const Bytes numbers = inputs.bytes(pointer(arguments, 1), count * width);
  const Bytes limits = inputs.bytes(pointer(arguments, 2), rows * limits_in_row * width);
  const bool is_known = !numbers.empty() && !limits.empty() && pointer(arguments, 3) == nullptr;
  Bytes result(is_known ? size : 0);
  if (is_known) {
    with_type(type, [&](auto zero) {
      const Numbers counts = counted<decltype(zero)>({numbers, in_row}, {limits, limits_in_row},
                                                     has_one_row, at<bool>(arguments[7]));
      for (std::size_t i = 0; i < counts.size(); ++i) {
        convert(&counts[i], c10::ScalarType::Long, &result[i * result_width], result_type);
      }
    });
  }
  put(known, to, {result.data(), size, is_known}, inputs);
  return true;
}

}  // namespace headroom::dry_run
