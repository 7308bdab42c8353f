// SPDX-License-Identifier: Apache-2.0
#include "src/cli/plan_summary.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "src/cli/table.h"
#include "src/core/bytes.h"

namespace headroom {
namespace {

std::optional<std::int64_t> integer(const Row& row, const std::string& column) {
  const auto value = row.find(column);
  if (value == row.end() || !value->is_number()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::string bytes(const Row& row, const std::string& column) {
  const auto count = integer(row, column);
  return count ? format_bytes(*count) : "";
}

std::string reserved(const Row& row) {
  const std::string lower = bytes(row, "run_peak_reserved_lower_bytes");
  const std::string upper = bytes(row, "run_peak_reserved_upper_bytes");
  const std::string estimate = bytes(row, "run_peak_reserved_bytes");
  return lower == upper ? estimate : estimate + " (" + lower + " to " + upper + ")";
}

std::string fits(const Row& row) {
  const std::string missing = bytes(row, "missing_bytes");
  const std::string answer = row.value("fits", "");
  return missing.empty() ? answer : answer + ", by " + missing;
}

/// The published figure of a row and the error of this row's; a table publishes one.
std::array<std::string, 2> published(const Row& row) {
  for (const char* figure :
       {"run_peak_reserved", "driver_peak", "run_peak_allocated", "init_peak_reserved"}) {
    const std::string name = figure;
    const auto error = row.find(name + "_error_percent");
    if (error == row.end()) continue;
    return {bytes(row, "published_" + name + "_bytes"),
            fmt::format("{:+.1f} %", error->get<double>())};
  }
  return {};
}

}  // namespace

std::string format_plan(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Row& row : rows) {
    const auto [figure, error] = published(row);
    lines.push_back({row.value("case", ""), row.value("status", ""), fits(row),
                     bytes(row, "run_peak_allocated_bytes"), reserved(row),
                     bytes(row, "driver_peak_bytes"), figure, error, row.value("reason", "")});
  }
  return format_table(
      {"case", "status", "fits", "allocated", "reserved", "driver", "published", "error", "reason"},
      lines, {"allocated", "reserved", "driver", "published", "error"});
}

}  // namespace headroom
