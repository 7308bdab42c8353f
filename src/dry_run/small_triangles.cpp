// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_triangles.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_tensor_info.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kKeep = "16triu_tril_kernelI";
constexpr std::string_view kPlacesBelow = "19tril_indices_kernelI";
constexpr std::string_view kPlacesAbove = "19triu_indices_kernelI";

/// <T, Index, upper, ...>(TensorInfo<T, Index> to, TensorInfo from, int64 diagonal, ...).
bool run_keep(std::string_view name, void** arguments, const LiveBlocks& blocks, KnownBytes& known,
              Owns owns) {
  const std::size_t upper = name.find("Lb", name.find(kKeep));
  if (upper == std::string_view::npos || upper == 0) return false;
  const std::size_t index_bytes = name[upper - 1] == 'l' ? 8 : 4;
  const TensorInfo to(arguments[0], index_bytes);
  if (!owns(to.data()) || !to.is_laid_out()) return false;
  constexpr std::size_t kWidest = 16;  // a complex number in doubles
  const auto type = type_behind(name, kKeep);
  const std::size_t width = type ? bytes_of_type(*type) : kWidest;
  const auto behind = static_cast<std::size_t>(blocks.behind(to.data()));
  std::size_t size = to.reach() * width;
  if (!type && behind != 0) size = std::min(size, behind);
  const bool is_dense = to.reach() == to.elements();
  if (!type || !is_dense || size > KnownBytes::kMaxBytes)
    return known.forget(to.data(), size), true;

  const TensorInfo from(arguments[1], index_bytes);
  const std::size_t last = to.dimensions() - 1;
  if (!owns(from.data()) || !from.is_laid_out() || last == 0) return false;
  Inputs inputs(known);
  const Bytes bytes = inputs.bytes(from.data(), from.reach() * width);
  Bytes result(size);
  for (std::size_t i = 0; i < to.elements() && !bytes.empty(); ++i) {
    const auto column = static_cast<std::int64_t>(i % to.size(last));
    const auto row = static_cast<std::int64_t>(i / to.size(last) % to.size(last - 1));
    const auto diagonal = at<std::int64_t>(arguments[2]);
    const bool is_kept =
        name[upper + 2] == '1' ? column - row >= diagonal : column - row <= diagonal;
    if (is_kept) std::memcpy(&result[to.of(i) * width], &bytes[from.of(i) * width], width);
  }
  put(known, to.data(), {result.data(), size, !bytes.empty()}, inputs);
  return true;
}

/// Rows that begin in the first column, each longer by one than the one before it until they have
/// all columns.
void list_below(std::int64_t first_row, std::int64_t columns, std::size_t count, Numbers& rows,
                Numbers& places) {
  for (std::int64_t row = 0; rows.size() < count; ++row) {
    const std::int64_t length = std::min(first_row + row, columns);
    for (std::int64_t column = 0; column < length && rows.size() < count; ++column) {
      rows.push_back(row);
      places.push_back(column);
    }
  }
}

/// `whole` rows of all columns, then each shorter by one than the one before it, at its begin.
void list_above(std::int64_t first_row, std::int64_t columns, std::int64_t whole, std::size_t count,
                Numbers& rows, Numbers& places) {
  for (std::int64_t row = 0; row < whole + first_row; ++row) {
    const std::int64_t begin = std::max<std::int64_t>(row - whole, 0);
    const std::int64_t end = row < whole ? columns : first_row;
    for (std::int64_t column = begin; column < end && rows.size() < count; ++column) {
      rows.push_back(row);
      places.push_back(column);
    }
  }
}

/// (T* to, first row's or column's number, length of the first row, columns, elements of the part
/// that comes first, elements): rows, then columns.
bool run_places(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const bool is_below = has(name, kPlacesBelow);
  const auto type = type_behind(name, is_below ? kPlacesBelow : kPlacesAbove);
  const auto number = [&](std::size_t index) { return at<std::int64_t>(arguments[index]); };
  const void* const to = pointer(arguments, 0);
  const std::int64_t columns = number(3);
  if (!type || !owns(to) || number(5) < 1 || number(2) < 0 || columns < 1) return false;
  const auto count = static_cast<std::size_t>(number(5));
  const std::size_t width = bytes_of_type(*type);
  const std::size_t size = 2 * count * width;
  if (size > KnownBytes::kMaxBytes) return known.forget(to, size), true;
  Numbers rows;
  Numbers places;
  if (is_below) {
    list_below(number(2), columns, count, rows, places);
  } else {
    list_above(number(2), columns, number(4) / columns, count, rows, places);
  }
  for (std::int64_t& each : is_below ? rows : places) each += number(1);
  rows.insert(rows.end(), places.begin(), places.end());
  put_numbers(known, to, rows, *type, /*trust=*/{});
  return true;
}

}  // namespace

bool is_triangle(const char* name) {
  return has(name, kKeep) || has(name, kPlacesBelow) || has(name, kPlacesAbove);
}

bool run_triangle(const char* name, void** arguments, const LiveBlocks& blocks, KnownBytes& known,
                  Owns owns) {
  return has(name, kKeep) ? run_keep(name, arguments, blocks, known, owns)
                          : run_places(name, arguments, known, owns);
}

}  // namespace headroom::dry_run
