// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/runner/outcome.h"
#include "src/suite/catalog.h"
#include "src/workers/worker_call.h"

namespace headroom {

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
