// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/worker/case.h"
#include "src/worker/measure.h"

namespace headroom {

/// The values of the columns that the worker fills (src/results/columns.h), in their order. What
/// was not measured is not there.
nlohmann::ordered_json worker_columns(const Recipe& recipe, const Measurement& measurement);

/// The record of a case that ran to its end (docs/protocol.md). Its status is `ok`; `failed` where
/// the ledger's sum is not the allocator's peak to the byte, or the weights could not be saved,
/// with all that was measured; `inactive` where a technique did nothing.
nlohmann::ordered_json make_record(const WorkerCase& measured, const Measurement& measurement);

/// The record of a case that an exception ended.
nlohmann::ordered_json make_failure(std::string_view status, std::string_view reason);

}  // namespace headroom
