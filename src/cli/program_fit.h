// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/programs/rank_runs.h"
#include "src/runner/dry_run.h"

// `fit -- PROGRAM`: how much of something a program may have, by planning it again and again.
namespace headroom {

/// What is varied: {NAME} in the words of the command, and the variable NAME of its environment.
struct Variation {
  std::string name;
  std::int64_t first = 1;
  std::int64_t last = 1;
};

/// Reads the "BATCH=1..512" of an option. Throws ConfigError where it is not of that form.
Variation read_variation(const std::string& text);

/// Reads the "1..64" of --ranks. Throws likewise.
Variation read_rank_range(const std::string& text);

/// The words, with `value` in place of each {NAME}.
std::vector<std::string> with_value(std::vector<std::string> words, const std::string& name,
                                    const std::string& value);

struct ProgramFit {
  std::vector<std::string> words;
  DryRun dry_run;
  PlayedRanks played;
  bool json = false;
};

/// Each plans the program for several values, says so on standard error line by line, prints the
/// answer and gives the exit code: kFailed where nothing fits; where a plan fails otherwise, that
/// plan's own, and there is no answer.

/// The largest value that fits; where one does not, no larger one may.
int fit_largest(const ProgramFit& fit, const Variation& variation);

/// The GPUs of the table that it fits.
int fit_gpus(const ProgramFit& fit);

/// The fewest ranks with which it fits, of `ranks.first`, twice as many, and so on up to
/// `ranks.last`. `with_ranks`: the program on so many.
int fit_ranks(const std::function<ProgramFit(std::int64_t ranks)>& with_ranks,
              const Variation& ranks);

}  // namespace headroom
