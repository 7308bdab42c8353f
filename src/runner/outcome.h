// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "src/runner/status.h"
#include "src/runner/worker_call.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"

namespace headroom {

/// What came of a case.
struct Outcome {
  Verdict verdict;
  nlohmann::ordered_json record;  // the worker's; null where there is none
  /// The record's figures count although the verdict is not `ok`: a plan knows what a case that
  /// does not fit would take.
  bool keeps_figures = false;
};

/// What a worker's reply means. A record must keep docs/protocol.md and the catalog's columns, or
/// the case has failed; one whose loss is not finite is incorrect.
Outcome outcome_of(const WorkerReply& reply, const Catalog& catalog);

/// The columns of a worker's record; none where there is no record, or it holds none: a case that
/// went wrong early.
nlohmann::ordered_json columns_of(const nlohmann::ordered_json& record);

/// Why the case can't run on that device ("cpu" or "cuda"), so that no worker need be started: it
/// lists techniques that exclude each other, or one that needs another device. Nothing: it can.
std::optional<std::string> why_unsupported(const Case& one, const std::string& device,
                                           const Catalog& catalog);

}  // namespace headroom
