// SPDX-License-Identifier: Apache-2.0
#include "src/compare/time_gate.h"

#include <algorithm>

#include "src/results/statistics.h"

namespace headroom {
namespace {

constexpr double kRerunP = 0.01;

/// By how many percent the new time is the longer one.
double percent_longer(const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
  return 100 * (fastest_ratio(old_ns, new_ns) - 1);
}

bool is_suspect(const TimeEvidence& evidence) {
  return percent_longer(evidence.old_ns, evidence.new_ns) > evidence.percent / 2;
}

Light light_of_rerun(const TimeEvidence& evidence) {
  const std::vector<double>& old_ns = evidence.rerun_old_ns;
  const std::vector<double>& new_ns = evidence.rerun_new_ns;
  if (old_ns.empty() || new_ns.empty()) return Light::yellow;
  const double percent = percent_longer(old_ns, new_ns);
  if (percent <= evidence.percent / 2) return Light::green;
  const bool is_sure = precedence_p(old_ns, new_ns) <= kRerunP;
  return is_sure && percent > evidence.percent ? Light::red : Light::yellow;
}

}  // namespace

double fastest_ratio(const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
  return *std::ranges::min_element(new_ns) / *std::ranges::min_element(old_ns);
}

bool needs_rerun(const TimeEvidence& evidence) {
  return is_suspect(evidence) && light_of_rerun(evidence) == Light::yellow;
}

Light time_light(const TimeEvidence& evidence) {
  if (!is_suspect(evidence)) return Light::green;
  const Light light = light_of_rerun(evidence);
  const bool turns_red = light == Light::yellow && evidence.yellow_nights + 1 >= kYellowNights;
  return turns_red ? Light::red : light;
}

}  // namespace headroom
