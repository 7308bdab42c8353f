// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/suite/catalog.h"

// What the targets have in common.
namespace headroom {

/// The name under which targets have their input read: messages start with it.
inline constexpr const char* kInputName = "input";

/// Says what does not hold, and ends the process, where it does not.
void require(bool holds, std::string_view what);

/// Calls `read`, which may refuse its input: by ConfigError, ResultsError or JsonError with a
/// message of printable text that starts with `place`. Any other exception ends the process.
/// Returns whether it was read.
bool is_accepted(const std::function<void()>& read, std::string_view place = kInputName);

/// The input cut in pieces of one to seven bytes, as a pipe or a socket may deliver it.
void in_pieces(std::string_view input, const std::function<void(std::string_view)>& take);

/// Lines of JSON as a journal's records, with checksums that fit.
std::string with_checksums(std::string_view lines);

/// What the built worker prints.
const Catalog& fuzz_catalog();

}  // namespace headroom
