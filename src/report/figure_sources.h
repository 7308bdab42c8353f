// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// One figure of a case, by where it comes from. Errors are in percent, signed.
struct FigureSources {
  std::string figure;  // the column's name: run_peak_reserved_bytes
  std::optional<double> published = {};
  std::optional<double> planned = {};
  std::optional<double> measured = {};
  std::optional<double> planned_error = {};      // against the published figure
  std::optional<double> measured_error = {};     // likewise
  std::optional<double> measured_off_plan = {};  // against the planned figure
};

/// The figures of a case that were published, or that were planned beside a measurement; `plan`,
/// which may be null, is a plan of a measured case that stands in another folder.
std::vector<FigureSources> figure_sources(const CaseResult& one, const CaseResult* plan);

/// The plan of the same case of the same suite for the GPU that it was measured on; null: none of
/// them is one.
const CaseResult* find_plan(const Results& results, const CaseResult& one,
                            const std::vector<Results>& all);

}  // namespace headroom
