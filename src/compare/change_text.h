// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/compare/comparison.h"

// What a comparison says of a change, in words for people: the same in a terminal and on a page.
namespace headroom {

/// "213.08 MiB", "132.14 ms", "0.69315".
std::string figure_text(const std::string& column, double value);

/// "+1.00 MiB (+0.47 %)"; of a time "+5.1 % (+3.2 to +7.0)".
std::string change_text(const FigureChange& change);

/// "activations +2.00 MiB: 1 more of 1.00 MiB in each of 2 blocks (0, 1), forward, aten::add".
std::string growth_text(const Growth& growth);

/// "ok", or "ok, was crashed: SIGSEGV"; "vanished", "new".
std::string status_text(const CaseChange& change);

/// "12 cases: 1 worse, 11 same".
std::string count_text(const Comparison& comparison);

}  // namespace headroom
