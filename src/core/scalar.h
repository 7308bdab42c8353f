// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Scalars as JSON spells them, whatever the locale. The whole text must be the value: no spaces, no
// sign +, no leading zeros (010), no other base (0x10), no separators (1_000).
namespace headroom {

/// -?(0|[1-9][0-9]*), within std::int64_t.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// An integer, optionally with a fraction and an exponent (1e-5, 5.0e-5). Finite: neither names of
/// infinities nor values that a double can't hold (1e400, 1e-400).
std::optional<double> parse_number(std::string_view text);

/// true or false; no yes, on, True.
std::optional<bool> parse_boolean(std::string_view text);

/// The shortest text that parse_number reads as the same value. `value` is finite.
std::string format_number(double value);

}  // namespace headroom
