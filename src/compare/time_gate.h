// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace headroom {

/// What a night says of a case.
enum class Light {
  green,
  yellow,  // it can't be told; kYellowNights of these in a row are red
  red,
};

inline constexpr int kYellowNights = 3;

/// What is known of a case's step time. Times are the shortest steps of processes, one each, of old
/// and new in turns. Whatever else runs on a machine makes steps longer, hardly ever shorter, and
/// for seconds or minutes: among many processes some run undisturbed, and those can be compared.
struct TimeEvidence {
  std::vector<double> old_ns;
  std::vector<double> new_ns;
  int yellow_nights = 0;  // up to last night, in a row
  double percent = 3;     // gate.time_percent of the case
  /// Of the rerun in the same night, all its rounds; empty: there was none.
  std::vector<double> rerun_old_ns = {};
  std::vector<double> rerun_new_ns = {};
};

/// How many times the shortest old time the shortest new one is.
double fastest_ratio(const std::vector<double>& old_ns, const std::vector<double>& new_ns);

/// Whether the new time is longer by more than half of gate.time_percent, and no rerun has told yet
/// whether that is so: a round of it, or one more, has to.
bool needs_rerun(const TimeEvidence& evidence);

/// Green where nothing was suspect, or the rerun finds the time longer by at most half of
/// gate.time_percent; red where it finds it longer by more than that percentage, and the precedence
/// test agrees; else yellow, and red where nights before were yellow too.
Light time_light(const TimeEvidence& evidence);

}  // namespace headroom
