// SPDX-License-Identifier: Apache-2.0
#include "src/report/time_gate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "src/report/statistics.h"

namespace headroom {
namespace {

constexpr std::size_t kFewNights = 8;    // whose spread says little
constexpr double kSpreads = 2;           // a normal night in forty lies farther out
constexpr double kToDeviation = 1.4826;  // from median_deviation() to the deviation of a normal one
constexpr double kMedianCost = 1.25;     // how much more a median spreads than a mean
constexpr double kRerunP = 0.005;

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> list;
  for (const double value : values) list.push_back(std::log(value));
  return list;
}

double spread_of(const std::vector<double>& values) {
  return kToDeviation * median_deviation(logarithms(values));
}

/// How far a night's ratio spreads, as a logarithm.
double spread_of_ratio(const TimeEvidence& evidence) {
  if (evidence.past_ratios.size() >= kFewNights) return spread_of(evidence.past_ratios);
  const auto of_median = [](const std::vector<double>& values) {
    return kMedianCost * spread_of(values) / std::sqrt(static_cast<double>(values.size()));
  };
  return std::hypot(of_median(evidence.old_ns), of_median(evidence.new_ns));
}

Light light_of_rerun(const TimeEvidence& evidence) {
  const double allowed = 1 + evidence.percent / 100;
  const std::vector<double>& old_ns = evidence.rerun_old_ns;
  const std::vector<double>& new_ns = evidence.rerun_new_ns;
  if (old_ns.empty() || new_ns.empty()) return Light::yellow;
  const double ratio = ratio_of(old_ns, new_ns);
  if (ratio <= 1) return Light::green;
  if (ratio > allowed && mann_whitney_p(old_ns, new_ns) <= kRerunP) return Light::red;
  return ratio_interval(old_ns, new_ns, kRerunP).upper <= allowed ? Light::green : Light::yellow;
}

}  // namespace

bool is_suspect(const TimeEvidence& evidence) {
  const double allowed = std::log(1 + evidence.percent / 100);
  const double band = std::clamp(kSpreads * spread_of_ratio(evidence), allowed / 2, allowed);
  return std::log(ratio_of(evidence.old_ns, evidence.new_ns)) > band;
}

Light time_light(const TimeEvidence& evidence) {
  if (!is_suspect(evidence)) return Light::green;
  const Light light = light_of_rerun(evidence);
  const bool turns_red = light == Light::yellow && evidence.yellow_nights + 1 >= kYellowNights;
  return turns_red ? Light::red : light;
}

}  // namespace headroom
