// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// A case among those that it is compared with. Null: there is none.
struct Line {
  const CaseResult* result = nullptr;
  std::size_t number = 0;              // in the report, from 1
  const CaseResult* before = nullptr;  // the nearest case above with a peak
  /// The case with no technique and the same fields otherwise; where the suite has none, the
  /// nearest above with no technique. Of a case with no technique itself: none.
  const CaseResult* plain = nullptr;

  const Row& row() const { return result->row; }
};

/// Cases of one model on as many ranks, in the suite's order.
struct Group {
  std::string title;  // "vit_l_16 on 4 ranks"
  std::vector<Line> lines;
};

/// All cases, which must outlive the groups. Groups stand in the order of their first cases.
std::vector<Group> group_cases(const std::vector<CaseResult>& cases);

/// What the report calls the memory of a row: run_peak_allocated_bytes.
std::optional<double> peak_of(const Row& row);

}  // namespace headroom
