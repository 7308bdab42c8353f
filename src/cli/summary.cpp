// SPDX-License-Identifier: Apache-2.0
#include "src/cli/summary.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/text_table.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

constexpr std::string_view kPeak = column::run_peak_allocated_bytes;
constexpr std::string_view kStepTime = column::step_time_median_ns;

std::string peak(const Row& row) { return bytes_in(row, kPeak); }

std::string step_time(const Row& row) {
  const auto time = number_in(row, kStepTime);
  return time ? fmt::format("{:.2f} ms", *time / 1e6) : "";
}

/// How much less the peak is than that of the plain case.
std::string saved(const Row& row, const Row& plain) {
  const auto mine = number_in(row, kPeak);
  const auto whole = number_in(plain, kPeak);
  if (!mine || !whole || *whole == 0) return "";
  return fmt::format("{:.1f} %", 100 * (*whole - *mine) / *whole);
}

}  // namespace

std::string bytes_in(const Row& row, std::string_view column) {
  const auto bytes = number_in(row, column);
  return bytes ? format_bytes(static_cast<std::int64_t>(*bytes)) : "";
}

std::string format_summary(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  std::map<std::pair<std::string, std::int64_t>, const Row*> plain;  // the last, by model and ranks
  for (const Row& row : rows) {
    const std::pair like{text_in(row, column::model), ranks_of(row)};
    const bool is_one = is_plain(row);
    const bool comparable = !is_one && plain.contains(like);
    lines.push_back({text_in(row, column::case_), text_in(row, column::status), peak(row),
                     comparable ? saved(row, *plain[like]) : "", step_time(row),
                     text_in(row, column::reason)});
    if (is_one) plain[like] = &row;
  }
  return format_table({"case", "status", "peak", "saved", "step time", "reason"}, lines,
                      {"peak", "saved", "step time"});
}

std::string format_row(const Row& row) {
  std::string text = text_in(row, column::status);
  if (const std::string bytes = peak(row); !bytes.empty()) text += ", " + bytes;
  if (const std::string time = step_time(row); !time.empty()) text += ", " + time + " a step";
  if (const std::string reason = text_in(row, column::reason); !reason.empty())
    text += ": " + reason;
  return text;
}

}  // namespace headroom
