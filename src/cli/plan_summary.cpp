// SPDX-License-Identifier: Apache-2.0
#include "src/cli/plan_summary.h"

#include <fmt/format.h>

#include <array>

#include "src/cli/summary.h"
#include "src/core/text_table.h"

namespace headroom {
namespace {

std::string reserved(const Row& row) {
  const std::string lower = bytes_in(row, "run_peak_reserved_lower_bytes");
  const std::string upper = bytes_in(row, "run_peak_reserved_upper_bytes");
  const std::string estimate = bytes_in(row, "run_peak_reserved_bytes");
  return lower == upper ? estimate : estimate + " (" + lower + " to " + upper + ")";
}

std::string fits(const Row& row) {
  const std::string missing = bytes_in(row, "missing_bytes");
  const std::string answer = row.value("fits", "");
  return missing.empty() ? answer : answer + ", by " + missing;
}

/// The published figure of a row and the error of this row's; a table publishes one.
std::array<std::string, 2> published(const Row& row) {
  for (const char* figure : {"run_peak_reserved", "driver_peak", "run_peak_allocated",
                             "init_peak_reserved", "model_states"}) {
    const std::string name = figure;
    const auto error = number_in(row, name + "_error_percent");
    if (!error) continue;
    return {bytes_in(row, "published_" + name + "_bytes"), fmt::format("{:+.1f} %", *error)};
  }
  return {};
}

}  // namespace

std::string format_plan(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Row& row : rows) {
    const auto [figure, error] = published(row);
    lines.push_back({row.value("case", ""), row.value("status", ""), fits(row),
                     bytes_in(row, "run_peak_allocated_bytes"), reserved(row),
                     bytes_in(row, "driver_peak_bytes"), figure, error, row.value("reason", "")});
  }
  return format_table(
      {"case", "status", "fits", "allocated", "reserved", "driver", "published", "error", "reason"},
      lines, {"allocated", "reserved", "driver", "published", "error"});
}

}  // namespace headroom
