// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/suite/suite.h"

namespace headroom {

/// What a journal's first record says: what the folder's results are results of.
///
///     {"format": 2, "suite", "kind", "device", "libtorch", "worker", "cases": {NAME: WORK, ...}}
///
/// The kind is "measured" or "planned"; the device "cpu", "cuda" or the name of the GPU that is
/// planned for; the worker a hash of the program; WORK as Case::work() has it.
///
/// Throws std::system_error or ConfigError where the worker can't be read.
nlohmann::ordered_json make_header(const Suite& suite, const Catalog& catalog,
                                   const std::string& kind, const std::string& device,
                                   const std::string& worker);

/// Throws ResultsError where the header of the file `journal` is of another format than this
/// version's, or lacks something.
void check_header(const nlohmann::ordered_json& header, const std::string& journal);

/// What differs first between the headers of two journals, whose results must not be mixed then.
/// Empty: nothing. Both have passed check_header().
std::string header_difference(const nlohmann::ordered_json& old_header,
                              const nlohmann::ordered_json& new_header);

}  // namespace headroom
