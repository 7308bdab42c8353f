// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/results/row.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// What came of a case.
struct Outcome {
  Verdict verdict;
  /// The worker's; null where there is none. Of several ranks that of the peak rank, or of the one
  /// that the reason names.
  nlohmann::ordered_json record;
  /// The record's figures count although the verdict is not `ok`: a plan knows what a case that
  /// does not fit would take.
  bool keeps_figures = false;
  /// Of several ranks: what each of them gave, by rank. Empty: there was one process.
  std::vector<nlohmann::ordered_json> rank_records = {};
  /// Of several ranks: the one whose peak the record explains.
  std::optional<std::size_t> peak_rank = {};
};

/// What a worker's reply means. A record must keep docs/protocol.md and the catalog's columns, or
/// the case has failed; one whose loss is not finite is incorrect.
Outcome outcome_of(const WorkerReply& reply, const Catalog& catalog);

/// Whether one of the case's techniques makes one training of its ranks.
bool joins_ranks(const Case& one, const Catalog& catalog);

/// Why the case can't run on that device ("cpu" or "cuda"), so that no worker need be started: it
/// lists techniques that exclude each other, or one that needs another device, or none that joins
/// its ranks. Nothing: it can.
std::optional<std::string> why_unsupported(const Case& one, const Catalog& catalog);

}  // namespace headroom
