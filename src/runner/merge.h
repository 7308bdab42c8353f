// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/results/results.h"
#include "src/suite/catalog.h"

namespace headroom {

/// What came of merging parts of one suite's results.
struct Merged {
  std::vector<Row> rows;              // in the suite's order
  std::vector<std::string> not_done;  // cases that no part has
};

/// Writes a results folder that holds the cases of all `parts`, as one run of the suite would have
/// left it, with their logs and snapshots. A case's loss is checked against its reference where
/// that was in another part. The parts stay as they are.
///
/// Throws ResultsError where the parts are not of one suite, program and machine, two have other
/// results of one case, or a suite.yaml says otherwise than the journal; ConfigError where `out`
/// holds results; std::system_error where it can't be written.
Merged merge_results(const Catalog& catalog, const std::vector<const Results*>& parts,
                     const std::filesystem::path& out);

}  // namespace headroom
