// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "src/worker/measure.h"

namespace headroom {

/// What a worker knows when it fills a row.
struct Measured {
  const Recipe& recipe;
  const Measurement& measurement;
};

/// Which rank's value the row of a case of several ranks holds.
enum class AcrossRanks {
  peak_rank,  // that of the rank with the largest run_peak_allocated_bytes
  largest,
  smallest,
};

/// One column of results.csv. The table's order is the order of the file.
struct Column {
  std::string_view name;
  std::string_view type;     // text, integer or number
  std::string_view group;    // identity, work, memory, time, learning, compare or provenance
  std::string_view summary;  // one line; the unit stands in the name
  /// Who fills it: "worker", "runner", or "case:PATH", a value that is copied from the case.
  std::string_view origin;
  /// The value; null where it was not measured. Only where the origin is "worker".
  nlohmann::ordered_json (*value)(const Measured&) = nullptr;
  AcrossRanks across_ranks = AcrossRanks::peak_rank;
};

std::span<const Column> column_table();

}  // namespace headroom
