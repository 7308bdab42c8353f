// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/compare/comparison.h"
#include "src/results/journal.h"

namespace headroom {

/// What a night says of a case.
enum class Light {
  green,
  yellow,  // it can't be told; kYellowNights of these in a row are red
  red,
};

inline constexpr int kYellowNights = 3;

/// Of each side: with fewer the gate errs more often than it is made for (docs/nightly.md).
inline constexpr std::size_t kLeastProcesses = 3;

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

/// The shortest new time, in shortest old times.
double fastest_ratio(const std::vector<double>& old_ns, const std::vector<double>& new_ns);

/// Whether the new time is suspect: longer by more than half of gate.time_percent, or of fewer than
/// kLeastProcesses processes; and no rerun has told yet: a round of it, or one more, has to.
bool needs_rerun(const TimeEvidence& evidence);

/// Green where nothing was suspect, or the rerun finds the time longer by at most half of
/// gate.time_percent; red where it finds it longer by more than that percentage, and the precedence
/// test agrees; else yellow, and red where nights before were yellow too.
Light time_light(const TimeEvidence& evidence);

/// A case on a night.
struct NightlyCase {
  std::string suite;
  std::string name;
  /// What it was measured on: nights on another machine are another history.
  std::string machine;
  Light light = Light::green;
  std::optional<double> ratio = {};  // of the new step time to the old one
  std::string reason = {};
};

/// The nights so far, in one file of JSON Lines: the first line says what the file is, each further
/// one is a night,
///
///     {"crc32", "journals", "judged_at", "old_commit", "new_commit", "varied": [...],
///      "cases": [{"suite", "case", "machine", "light", "ratio", "reason"}]}
///
/// or one that was judged again: of a night's lines the last one counts. Lines may stand in any
/// order, as where two branches of a repository added some: nights count by when they were first
/// judged. One process at a time holds it.
class History {
 public:
  /// Makes the file where it is missing. Throws what Journal throws, and ResultsError where the
  /// file is no history: also where an earlier version wrote it, as a database.
  explicit History(const std::string& path);

  /// How many nights in a row the case was yellow, up to the one before the night of `journals`;
  /// where that is not in the history, up to the last one.
  int yellow_nights(const NightlyCase& like, const std::string& journals) const;
  /// Adds the night of `journals` (see NightlyResults), which was judged at `judged_at` (UTC, ISO
  /// 8601), with what was varied. Of a night that is there already only what its cases came to is
  /// written again, where it differs. Throws std::system_error that names the file.
  void add(const std::string& journals, const std::string& judged_at, const std::string& old_commit,
           const std::string& new_commit, const std::vector<NightlyCase>& cases,
           const std::vector<std::string>& varied = {});

 private:
  Journal journal_;
};

/// What a nightly run leaves: old and new, measured in turns, and again the cases that were
/// suspect.
struct NightlyResults {
  std::vector<Results> old_results;
  std::vector<Results> new_results;
  std::vector<Results> rerun_old = {};
  std::vector<Results> rerun_new = {};

  /// A fingerprint of the journals of old and new, by which a night is known again; what is run
  /// again belongs to the same night.
  std::string journals() const;
};

/// Reads them out of the folders `old`, `new`, `rerun/old` and `rerun/new` of a folder; the last
/// two may be missing. Throws as read_all_results() does.
NightlyResults read_nightly(const std::string& folder);

/// What came of a night.
struct Night {
  Comparison comparison;  // of old and new, without the rerun
  std::vector<NightlyCase> cases;

  Light light() const;  // the gravest
};

/// Judges each case: anything but a step's time by compare(), where worse is red and unclear is
/// yellow; a step's time by time_light(). Throws ResultsError where old and new are not of the same
/// machine, but for what may vary, and work.
Night judge_night(const NightlyResults& results, const History& history,
                  const std::vector<Varied>& may_vary = {});

/// The cases whose time is suspect, and which a rerun, or one more round of it, has to confirm.
std::vector<NightlyCase> suspects(const NightlyResults& results, const History& history,
                                  const std::vector<Varied>& may_vary = {});

/// A form of a night, by name.
struct NightFormat {
  const char* name;
  std::string (*write)(const Night&);
};

/// The table for a terminal; markdown for the summary of a job; json: {"light", "cases": [{"suite",
/// "case", "light", "ratio", "reason"}], "comparison": ...}; junit: a failure for each red case,
/// skipped where it is yellow; github: an annotation for each case that is not green.
const std::vector<NightFormat>& night_formats();

}  // namespace headroom
