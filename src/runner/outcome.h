// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "src/results/row.h"
#include "src/suite/catalog.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// What came of a case.
struct Outcome {
  Verdict verdict;
  /// The worker's; null where there is none. A case of several ranks has the record of the peak
  /// rank, or of the one that the reason names.
  nlohmann::ordered_json record;
  /// The record's figures count although the verdict is not `ok`: a plan knows what a case that
  /// does not fit would take.
  bool keeps_figures = false;
  /// What each rank gave, by rank. Empty: there was one process.
  std::vector<nlohmann::ordered_json> rank_records = {};
  /// The rank whose peak the record explains. Nothing: there was one process.
  std::optional<std::size_t> peak_rank = {};
};

/// What a worker's reply means. A record must keep docs/protocol.md and the catalog's columns, or
/// the case has failed; one whose loss is not finite is incorrect.
Outcome outcome_of(const WorkerReply& reply, const Catalog& catalog);

/// Takes all times out of what workers gave, where others were measured beside them.
void drop_times(Outcome& outcome, const Catalog& catalog);

/// What the replies of a case's ranks mean together. It is ok where all ranks are. Else the verdict
/// is that of one rank, which the reason names: the first of these that there is,
///
/// - one that was silent, or took, too long: what others did after it was ended follows from that;
/// - one that ran out of memory;
/// - one that ended without a record, or broke the protocol;
/// - one whose record is not ok;
/// - one whose record is not ok, and says that it lost another rank;
///
/// of several the one that is the furthest behind, then the one that ended first. Behind one that
/// was silent there may be another that was not silent as long: it is named before it. No rank is
/// named where all answered the same.
Outcome outcome_of_ranks(const std::vector<WorkerReply>& replies, const Catalog& catalog);

}  // namespace headroom
