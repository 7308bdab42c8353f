// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/solver_work.h"

#include <algorithm>
#include <bit>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kOwnBytes = 128;

/// Jacobi's method and Cholesky's take matrices in tiles of 32 columns.
std::int64_t tiles(std::int64_t n) { return parts(n, 32); }

/// What each matrix of several takes; up to some 690 rows the matrix is made tridiagonal in blocks
/// of columns, from there in two steps.
std::int64_t symmetric_numbers_of_each(std::int64_t n) {
  return std::max(3 * n * n + 768 * n + 65'540, 4 * n * n + 127 * n + 32'900);
}
constexpr std::int64_t kOwnNumbers = 63;

}  // namespace

std::int64_t qr_numbers(std::int64_t columns) {
  return 1024 * std::max<std::int64_t>(columns, 256) + 524'288;
}

std::int64_t qr_bytes(std::int64_t columns, std::int64_t number_bytes) {
  return qr_numbers(columns) * number_bytes + kOwnBytes;
}

std::int64_t q_numbers(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kBlockColumns = 128;
  const std::int64_t block = std::min(columns, kBlockColumns);
  return block * rows + std::max<std::int64_t>(block * block + 256 * columns + 256, 33'024);
}

std::int64_t q_product_numbers(std::int64_t rows, std::int64_t columns, std::int64_t reflectors) {
  return reflectors * (rows + reflectors) + 256 * rows + 513 * columns + 65'792;
}

std::int64_t lu_bytes(std::int64_t n) {
  const std::int64_t count = std::max<std::int64_t>(tiles(n), 1);
  const auto power = std::bit_ceil(static_cast<std::uint64_t>(count));
  return 256 * (1 + count + std::min<std::int64_t>(static_cast<std::int64_t>(power), 16));
}

std::int64_t cholesky_bytes(std::int64_t n) {
  return whole_parts(4 * tiles(n) * tiles(n), 32) + kOwnBytes;
}

std::int64_t ldl_numbers(std::int64_t n, std::int64_t number_bytes) {
  constexpr std::int64_t kManyRows = 3000;
  const std::int64_t least_kibibytes = number_bytes == 4 ? 96 : number_bytes == 8 ? 104 : 172;
  return std::max((n > kManyRows ? 128 : 64) * n + 64,
                  (1024 * least_kibibytes + kOwnBytes) / number_bytes);
}

std::int64_t symmetric_numbers(std::int64_t n) {
  return symmetric_numbers_of_each(n) + kOwnNumbers;
}

std::int64_t symmetric_bytes(std::int64_t n, std::int64_t number_bytes, std::int64_t batch) {
  return number_bytes * (batch * symmetric_numbers_of_each(n) + kOwnNumbers) + kOwnBytes;
}

std::int64_t jacobi_numbers(std::int64_t n) {
  return jacobi_batch_numbers(n, /*batch=*/1) - n + tiles(n) - 1;
}

std::int64_t jacobi_batch_numbers(std::int64_t n, std::int64_t batch) {
  return batch * (n * n + 1024 * tiles(n) + 2 * n + 1) + 4 * tiles(n) * tiles(n) + 1024;
}

std::int64_t eigenvalue_numbers(std::int64_t n) {
  return std::max(q_numbers(n, n), n * n + 4 * n + 128);
}

std::int64_t singular_numbers(std::int64_t rows, std::int64_t columns) {
  const std::int64_t squares = columns * columns;
  if (rows == columns) return 3 * squares + 260 * columns + 65'792;
  const std::int64_t product = rows * columns;
  return std::max(3 * (product + squares) + 257 * rows + 3 * columns + 65'819,
                  qr_numbers(columns) + q_numbers(rows, columns) + 2 * product + squares);
}

std::int64_t singular_jacobi_numbers(std::int64_t rows, std::int64_t columns, bool thin) {
  const std::int64_t square = 2 * columns * columns + 4 * tiles(columns) * tiles(columns) +
                              2048 * tiles(columns) + columns + tiles(columns) + 1056;
  if (rows == columns) return square;
  // The square is that of R.
  const std::int64_t of_q = q_product_numbers(rows, thin ? columns : rows, columns);
  return std::max(columns * columns + square, columns + std::max(qr_numbers(columns), of_q));
}

std::int64_t singular_approximate_bytes(std::int64_t rows, std::int64_t columns, std::int64_t batch,
                                        bool is_complex) {
  constexpr std::int64_t kMostOfJacobi = 32;
  const std::int64_t spectra = columns <= kMostOfJacobi ? jacobi_batch_numbers(columns, batch)
                                                        : batch * symmetric_numbers(columns);
  const std::int64_t copies = batch * (rows * columns + columns * columns + 2 * columns);
  constexpr std::int64_t kValueBytes = 8;
  return (is_complex ? 16 : 8) * (copies + spectra) + kValueBytes * batch * columns;
}

}  // namespace headroom::dry_run
