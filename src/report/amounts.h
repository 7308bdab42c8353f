// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "src/report/html_table.h"
#include "src/results/row.h"

// Figures as the report shows them. What was not measured is an empty cell.
namespace headroom {

/// "24.97 GiB", and the exact bytes for the pointer.
HtmlCell bytes_cell(std::optional<double> bytes);
HtmlCell bytes_cell(const Row& row, const std::string& column);

/// "12.3 ms", and the nanoseconds.
HtmlCell time_cell(std::optional<double> nanoseconds);

/// A figure with about four digits.
HtmlCell number_cell(std::optional<double> number);

/// How many percent of the other figure the one is: "48.1".
HtmlCell share_cell(std::optional<double> part, std::optional<double> whole);

/// How many percent a figure lies from another: "+0.1 %".
HtmlCell error_cell(std::optional<double> percent);

/// How many percent `figure` lies from `reference`; nothing where one is missing or that is 0.
std::optional<double> error_percent(std::optional<double> figure, std::optional<double> reference);

std::string bytes_text(double bytes);

}  // namespace headroom
