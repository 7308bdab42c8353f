// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/suite/suite.h"

namespace headroom {

/// What a journal's first record says: what the folder's results are results of.
///
///     {"format": 1, "suite", "kind": "measured" or "planned", "device": "cpu", "cuda" or the name
///     of
///      the GPU that is planned for, "libtorch", "worker": hash of the program,
///      "cases": {name: fingerprint, ...}}
///
/// Throws std::system_error or ConfigError where the worker can't be read.
nlohmann::ordered_json make_header(const Suite& suite, const Catalog& catalog,
                                   const std::string& kind, const std::string& device,
                                   const std::string& worker);

/// Results under different headers must not be mixed.
/// Throws ResultsError, which says what differs, where `found`, the header of the file `journal`,
/// is not `header`.
void check_same_header(const nlohmann::ordered_json& found, const nlohmann::ordered_json& header,
                       const std::string& journal);

}  // namespace headroom
