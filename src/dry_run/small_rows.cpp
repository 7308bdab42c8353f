// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kToBegins = "convert_indices_from_coo_to_csr_cuda_kernelI";
constexpr std::string_view kToRowOfEach = "convert_indices_from_csr_to_coo_cuda_kernelI";

struct RowTypes {
  c10::ScalarType read;
  c10::ScalarType written;
};

std::optional<RowTypes> types_of(std::string_view name) {
  const bool gives_begins = has(name, kToBegins);
  if (!gives_begins && !has(name, kToRowOfEach)) return std::nullopt;
  const std::string_view kernel = gives_begins ? kToBegins : kToRowOfEach;
  name.remove_prefix(name.find(kernel) + kernel.size());
  const auto read = take_type(name);
  const auto written = take_type(name);
  if (!read || !written) return std::nullopt;
  return RowTypes{*read, *written};
}

/// Empty: some are not known.
Numbers numbers_at(const void* from, std::size_t count, c10::ScalarType type, Inputs& inputs) {
  const std::size_t width = bytes_of_type(type);
  const PartlyKnown found = inputs.partly(from, count * width);
  Numbers numbers(found.has_any() && found.gaps.empty() ? count : 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    convert(&found.bytes[i * width], type, &numbers[i], c10::ScalarType::Long);
  }
  return numbers;
}

/// (begins, rows, how many rows, how many elements): the last begin is where all end.
void put_begins(const RowTypes& types, void** arguments, KnownBytes& known) {
  const auto rows = at<std::int64_t>(arguments[2]);
  const auto elements = at<std::int64_t>(arguments[3]);
  Inputs inputs(known);
  const Numbers row_of =
      numbers_at(pointer(arguments, 1), static_cast<std::size_t>(elements), types.read, inputs);
  Numbers begins(static_cast<std::size_t>(rows) + 1);
  for (std::int64_t row = 0; row <= rows; ++row) {
    const auto before = std::ranges::lower_bound(row_of, row) - row_of.begin();
    begins[static_cast<std::size_t>(row)] =
        row_of.empty() ? row * elements / rows : static_cast<std::int64_t>(before);
  }
  const Trust trust = row_of.empty() ? kAssumed : inputs.trust();
  put_numbers(known, pointer(arguments, 0), begins, types.written, trust);
}

/// (rows, begins, how many rows, how many elements, how many matrices).
void put_rows(const RowTypes& types, void** arguments, KnownBytes& known) {
  const auto rows = at<std::size_t>(arguments[2]);
  const auto elements = at<std::size_t>(arguments[3]);
  const auto matrices = at<std::size_t>(arguments[4]);
  const void* const to = pointer(arguments, 0);
  Inputs inputs(known);
  const Numbers begins =
      numbers_at(pointer(arguments, 1), matrices * (rows + 1), types.read, inputs);
  if (begins.empty()) {
    return known.forget(to, matrices * elements * bytes_of_type(types.written));
  }
  Numbers row_of(matrices * elements);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t row = i % (rows + 1);
    if (row == rows) continue;
    const std::size_t last = std::min(elements, static_cast<std::size_t>(begins[i + 1]));
    for (auto each = static_cast<std::size_t>(begins[i]); each < last; ++each) {
      row_of[i / (rows + 1) * elements + each] = static_cast<std::int64_t>(row);
    }
  }
  put_numbers(known, to, row_of, types.written, inputs.trust());
}

}  // namespace

bool is_of_rows(const char* name) { return types_of(name).has_value(); }

bool run_of_rows(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const bool is_laid_out = owns(pointer(arguments, 0)) && owns(pointer(arguments, 1)) &&
                           at<std::int64_t>(arguments[2]) > 0 && at<std::int64_t>(arguments[3]) > 0;
  if (!is_laid_out) return false;
  const RowTypes types = *types_of(name);
  has(name, kToBegins) ? put_begins(types, arguments, known) : put_rows(types, arguments, known);
  return true;
}

}  // namespace headroom::dry_run
