// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

// What comparing noisy figures takes. A sample is never empty.
namespace headroom {

/// The middle value; of an even number the mean of the middle two.
double median(std::span<const double> sample);

/// The median of the distances from the median: how far values lie apart, whatever the outliers.
double median_deviation(std::span<const double> sample);

/// The exact probability that ranks as far to one side as these, or farther, come about where both
/// samples are of the same distribution: Mann and Whitney's test, one-sided. `greater`: that the
/// second sample tends to be the greater one. Ties count half, which makes the test cautious.
/// At most 60 values a sample.
double mann_whitney_p(std::span<const double> first, std::span<const double> second);

/// The exact probability that as many values of the first sample lie below all of the second, or
/// more, where both samples are of the same distribution: the precedence test (Epstein 1954, Nelson
/// 1963). It looks at the fastest only, so what now and then slows a machine does not blind it.
double precedence_p(std::span<const double> first, std::span<const double> second);

/// A range of numbers.
struct Interval {
  double lower = 0;
  double upper = 0;
};

/// How many times the second sample's values are the first one's: the median of all ratios of a
/// second by a first value (Hodges and Lehmann's estimate, of logarithms). Values are positive.
double ratio_of(std::span<const double> first, std::span<const double> second);

/// The interval of ratio_of() that Mann and Whitney's test does not reject, each side at
/// `one_sided_p`. Where the samples are too small for that: from 0 to infinity.
Interval ratio_interval(std::span<const double> first, std::span<const double> second,
                        double one_sided_p);

}  // namespace headroom
