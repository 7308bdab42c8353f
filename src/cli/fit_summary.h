// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/runner/fit_search.h"

namespace headroom {

/// What a search came to, for both kinds of output.
struct FitReport {
  std::string subject;  // a suite or model
  std::string gpu;
  std::int64_t ranks = 1;         // each with a GPU of its own
  std::int64_t memory_bytes = 0;  // of a GPU
  std::vector<FitStack> stacks;
  FitAnswer answer;
  std::vector<FitTrial> trials;  // all stacks at the answer's size
  std::string file;              // the suite that was written
  bool mixes_samples = false;    // the model normalises over the samples of a micro-batch
};

/// For people: the answer, then the trials that no other one beats.
std::string format_fit(const FitReport& report);

/// The same, with all trials.
nlohmann::ordered_json fit_to_json(const FitReport& report);

/// The lines of a comment for the head of the suite file.
std::string fit_comment(const FitReport& report);

}  // namespace headroom
