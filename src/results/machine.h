// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/core/json.h"
#include "src/results/results.h"

namespace headroom {

/// What the machines of two results may differ in where it is what is tried: --vary.
enum class Varied {
  libtorch,  // its version, its files, the CUDA that it was built with, where it is loaded from
  driver,    // of the GPU
};

/// What two results of a case, both "measured" or "planned", were made on, and where they differ:
/// "cores was 2 and is 4". Of plans only a GPU that no table has counts, by its figures. Which of a
/// machine's GPUs were chosen does not count.
struct MachineDifferences {
  std::vector<std::string> varied;  // that may be
  std::vector<std::string> others;
};
MachineDifferences machine_differences(const CaseResult& old_run, const CaseResult& new_run,
                                       std::string_view kind,
                                       const std::vector<Varied>& may_vary = {});

/// A fingerprint of what a case was measured on, without what may vary: nights on another machine
/// are another history.
std::string machine_of(const CaseResult& run, const std::vector<Varied>& may_vary);

}  // namespace headroom
