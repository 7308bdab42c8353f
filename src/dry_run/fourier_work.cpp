// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/fourier_work.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace headroom::dry_run {
namespace {

bool is_power_of_two(std::int64_t points) {
  return std::has_single_bit(static_cast<std::uint64_t>(points));
}

std::int64_t largest_prime(std::int64_t points) {
  std::int64_t largest = 1;
  for (std::int64_t prime = 2; prime * prime <= points; ++prime) {
    while (points % prime == 0) {
      largest = prime;
      points /= prime;
    }
  }
  return std::max(largest, points);
}

/// Whether a size has a prime for which cuFFT has no step of its own.
bool is_rough(std::int64_t points) {
  constexpr std::int64_t kLargestStep = 127;
  return largest_prime(points) > kLargestStep;
}

/// The smallest number of no primes but 2, 3 and 5 that is not less.
std::int64_t next_smooth(std::int64_t points) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t fives = 1; fives < best; fives *= 5) {
    for (std::int64_t threes = fives; threes < best; threes *= 3) {
      std::int64_t twos = threes;
      while (twos < points) twos *= 2;
      best = std::min(best, twos);
    }
  }
  return best;
}

/// The most points that one kernel transforms in the memory that its threads share. `apart`: not in
/// the last dimension. Of others than powers of two the first that did not fit were 22,050 and
/// 16,000 points, and apart 1,080 and 640.
std::int64_t most_points(std::int64_t points, bool apart, std::int64_t complex_bytes) {
  if (is_power_of_two(points)) return complex_bytes == 4 ? 8192 : 16384;
  const bool is_single = complex_bytes == 8;
  if (apart) return is_single ? 1000 : 480;
  return is_single ? 20'000 : 12'288;
}

/// Complex numbers for one transform: none in one kernel, a copy in several. One of a large prime
/// is a product of two transforms of twice as many points (Bluestein's); up to 4,096 points it is
/// in one kernel.
std::int64_t numbers_of_one(std::int64_t points, bool apart, std::int64_t complex_bytes) {
  constexpr std::int64_t kMostRough = 4096;
  if (is_rough(points)) return points > kMostRough ? 2 * next_smooth(2 * points - 1) : 0;
  return points > most_points(points, apart, complex_bytes) ? points : 0;
}

/// The last dimension of transforms with a real side: those of even sizes are done as half as many
/// complex points, and none but those of small primes in one kernel. Odd ones, and many points, of
/// a large prime are made complex, in pairs.
std::int64_t real_numbers(std::int64_t points, std::int64_t lines, std::int64_t complex_bytes) {
  constexpr std::int64_t kMostEven = 1000;
  constexpr std::int64_t kLargestEvenPrime = 7;
  const std::int64_t of_complex = numbers_of_one(points, /*apart=*/false, complex_bytes);
  const bool is_even = points % 2 == 0;
  if (is_rough(points) && (!is_even || of_complex > 0)) {
    return (lines + 1) / 2 * (points + std::max(points, of_complex));
  }
  if (!is_even) return lines * of_complex;
  const bool in_one_kernel =
      is_power_of_two(points) ? points <= (complex_bytes == 16 ? 4096 : 16384)
                              : points <= kMostEven && largest_prime(points) <= kLargestEvenPrime;
  if (in_one_kernel) return 0;
  const bool half_in_one = numbers_of_one(points / 2, /*apart=*/false, complex_bytes) == 0;
  return lines * (half_in_one ? points / 2 : points / 2 + 1);
}

}  // namespace

/// The dimensions are done one after another, in the same memory.
std::int64_t fourier_work_bytes(const FourierPlan& plan) {
  if (plan.sizes.empty()) return 0;
  const std::int64_t last = plan.sizes.back();
  std::int64_t lines = plan.transforms;
  for (std::size_t i = 0; i + 1 < plan.sizes.size(); ++i) lines *= plan.sizes[i];
  std::int64_t numbers = plan.is_real
                             ? real_numbers(last, lines, plan.complex_bytes)
                             : lines * numbers_of_one(last, /*apart=*/false, plan.complex_bytes);
  const std::int64_t columns = plan.is_real ? last / 2 + 1 : last;
  for (std::size_t i = 0; i + 1 < plan.sizes.size(); ++i) {
    const std::int64_t of_one = numbers_of_one(plan.sizes[i], /*apart=*/true, plan.complex_bytes);
    numbers =
        std::max(numbers, lines / std::max<std::int64_t>(plan.sizes[i], 1) * columns * of_one);
  }
  return numbers * plan.complex_bytes;
}

}  // namespace headroom::dry_run
