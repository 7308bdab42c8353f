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

/// What is known of a case's step time. Times are medians of processes, one each, of old and new in
/// turns, so that what slows the machine slows both.
struct TimeEvidence {
  std::vector<double> old_ns;
  std::vector<double> new_ns;
  /// Of earlier nights on this machine: how many times the old one's the new one's time was.
  std::vector<double> past_ratios = {};
  int yellow_nights = 0;  // up to last night, in a row
  double percent = 3;     // gate.time_percent of the case
  /// Of a rerun in the same night; empty: there was none.
  std::vector<double> rerun_old_ns = {};
  std::vector<double> rerun_new_ns = {};
};

/// Whether tonight's ratio is out of the case's own noise: beyond twice the spread of the last
/// nights' ratios (of few nights: of what tonight's processes let expect), but at least half of
/// gate.time_percent, and never more than that. A rerun has to confirm it.
bool is_suspect(const TimeEvidence& evidence);

/// Green where nothing was suspect, or the rerun does not find the time longer; red where the rerun
/// finds it longer by more than gate.time_percent and Mann and Whitney's test agrees; else yellow,
/// and red where nights before were yellow too. Without a rerun a suspect case is yellow.
Light time_light(const TimeEvidence& evidence);

}  // namespace headroom
