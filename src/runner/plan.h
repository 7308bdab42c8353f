// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/suite/suite.h"

namespace headroom {

/// What a journal's first record says: what the folder's results are results of.
///
///     {"format": 1, "suite", "device", "libtorch", "worker": hash of the program,
///      "cases": {name: fingerprint, ...}}
///
/// Throws std::system_error or ConfigError where the worker can't be read.
nlohmann::ordered_json make_plan(const Suite& suite, const Catalog& catalog,
                                 const std::string& device, const std::string& worker);

/// Results of different plans must not be mixed.
/// Throws ResultsError, which says what differs, where `journal`'s plan is not `plan`.
void check_same_plan(const nlohmann::ordered_json& journal_plan, const nlohmann::ordered_json& plan,
                     const std::string& journal);

}  // namespace headroom
