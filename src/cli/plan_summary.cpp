// SPDX-License-Identifier: Apache-2.0
#include "src/cli/plan_summary.h"

#include <fmt/format.h>

#include <array>

#include "src/cli/summary.h"
#include "src/core/text_table.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

std::string reserved(const Row& row) {
  const std::string lower = bytes_in(row, column::run_peak_reserved_lower_bytes);
  const std::string upper = bytes_in(row, column::run_peak_reserved_upper_bytes);
  const std::string estimate = bytes_in(row, column::run_peak_reserved_bytes);
  return lower == upper ? estimate : estimate + " (" + lower + " to " + upper + ")";
}

std::string fits(const Row& row) {
  const std::string missing = bytes_in(row, column::missing_bytes);
  const std::string answer = text_in(row, column::fits);
  return missing.empty() ? answer : answer + ", by " + missing;
}

/// The published figure of a row and the error of this row's; a table publishes one.
std::array<std::string, 2> published(const Row& row) {
  struct Compared {
    std::string_view published, error;
  };
  for (const auto& compared :
       {Compared{column::published_run_peak_reserved_bytes,
                 column::run_peak_reserved_error_percent},
        Compared{column::published_driver_peak_bytes, column::driver_peak_error_percent},
        Compared{column::published_run_peak_allocated_bytes,
                 column::run_peak_allocated_error_percent},
        Compared{column::published_init_peak_reserved_bytes,
                 column::init_peak_reserved_error_percent},
        Compared{column::published_model_states_bytes, column::model_states_error_percent}}) {
    const auto error = number_in(row, compared.error);
    if (error) return {bytes_in(row, compared.published), fmt::format("{:+.1f} %", *error)};
  }
  return {};
}

}  // namespace

std::string format_plan(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Row& row : rows) {
    const auto [figure, error] = published(row);
    lines.push_back({text_in(row, column::case_), text_in(row, column::status), fits(row),
                     bytes_in(row, column::run_peak_allocated_bytes), reserved(row),
                     bytes_in(row, column::driver_peak_bytes), figure, error,
                     text_in(row, column::reason)});
  }
  return format_table(
      {"case", "status", "fits", "allocated", "reserved", "driver", "published", "error", "reason"},
      lines, {"allocated", "reserved", "driver", "published", "error"});
}

}  // namespace headroom
