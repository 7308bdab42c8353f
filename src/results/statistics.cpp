// SPDX-License-Identifier: Apache-2.0
#include "src/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace headroom {
namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

/// How many pairs (first, second) have the second value greater; ties count half.
double wins(std::span<const double> first, std::span<const double> second) {
  double count = 0;
  for (const double a : first) {
    for (const double b : second) count += b > a ? 1.0 : (b == a ? 0.5 : 0.0);
  }
  return count;
}

/// The probability of each number of wins, from 0 to m * n, where both samples are alike: of all
/// orders of m + n values, by the recursion over which sample the greatest value is of.
std::vector<double> distribution_of_wins(std::size_t m, std::size_t n) {
  // rows[j][u]: orders of i first and j second values with u wins, grown over i.
  std::vector<std::vector<double>> rows(n + 1, std::vector<double>(m * n + 1));
  for (std::size_t j = 0; j <= n; ++j) rows[j][0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t j = 1; j <= n; ++j) {
      for (std::size_t u = i * j + 1; u-- > 0;) {
        // The greatest is of the first sample: no win more. Of the second: i wins more.
        rows[j][u] += u >= i ? rows[j - 1][u - i] : 0.0;
      }
    }
  }
  const double all = std::accumulate(rows[n].begin(), rows[n].end(), 0.0);
  for (double& count : rows[n]) count /= all;
  return rows[n];
}

/// All ratios of a second by a first value, in order.
std::vector<double> ratios(std::span<const double> first, std::span<const double> second) {
  std::vector<double> list;
  for (const double a : first) {
    for (const double b : second) list.push_back(b / a);
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

double median(std::span<const double> sample) { return median_of({sample.begin(), sample.end()}); }

double median_deviation(std::span<const double> sample) {
  const double middle = median(sample);
  std::vector<double> distances;
  for (const double value : sample) distances.push_back(std::abs(value - middle));
  return median_of(std::move(distances));
}

double mann_whitney_p(std::span<const double> first, std::span<const double> second) {
  const std::vector<double> probability = distribution_of_wins(first.size(), second.size());
  const auto seen = static_cast<std::size_t>(std::floor(wins(first, second)));
  return std::accumulate(probability.begin() + static_cast<std::ptrdiff_t>(seen), probability.end(),
                         0.0);
}

double precedence_p(std::span<const double> first, std::span<const double> second) {
  const double least = *std::ranges::min_element(second);
  const auto below = std::ranges::count_if(first, [&](double value) { return value < least; });
  // That the least is of the first, and so is the next, and so on.
  double p = 1;
  double of_first = static_cast<double>(first.size());
  for (std::ptrdiff_t i = 0; i < below; ++i, --of_first) {
    p *= of_first / (of_first + static_cast<double>(second.size()));
  }
  return p;
}

double ratio_of(std::span<const double> first, std::span<const double> second) {
  return median_of(ratios(first, second));
}

Interval ratio_interval(std::span<const double> first, std::span<const double> second,
                        double one_sided_p) {
  const std::vector<double> probability = distribution_of_wins(first.size(), second.size());
  const std::vector<double> list = ratios(first, second);
  // The most ratios that may be left out on each side.
  std::size_t left_out = 0;
  for (double sum = probability[0]; sum <= one_sided_p && left_out < list.size() / 2;) {
    ++left_out;
    sum += probability[left_out];
  }
  if (left_out == 0) return {0, std::numeric_limits<double>::infinity()};
  return {list[left_out - 1], list[list.size() - left_out]};
}

}  // namespace headroom
