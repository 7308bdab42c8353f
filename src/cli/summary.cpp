// SPDX-License-Identifier: Apache-2.0
#include "src/cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/results/repeats.h"
#include "src/results/statistics.h"

namespace headroom {
namespace {

constexpr std::string_view kPeak = column::run_peak_allocated_bytes;
constexpr std::string_view kStepTime = column::step_time_median_ns;

/// An amount of memory, for people; empty where the row has none.
std::string bytes_in(const Row& row, std::string_view column) {
  const auto bytes = number_in(row, column);
  return bytes ? format_bytes(std::llround(*bytes)) : "";
}

std::string peak(const Row& row) { return bytes_in(row, kPeak); }

std::string milliseconds(double nanoseconds) { return fmt::format("{:.2f} ms", nanoseconds / 1e6); }

/// As measured, or else as estimated.
std::string step_time(const Row& row) {
  if (const auto measured = number_in(row, kStepTime)) return milliseconds(*measured);
  const auto estimate = number_in(row, column::step_time_estimate_ns);
  return estimate ? "about " + milliseconds(*estimate) : "";
}

/// How much less the peak is than that of the plain case.
std::string saved(const Row& row, const Row& plain) {
  const auto mine = number_in(row, kPeak);
  const auto whole = number_in(plain, kPeak);
  if (!mine || !whole || *whole == 0) return "";
  return fmt::format("{:.1f} %", 100 * (*whole - *mine) / *whole);
}

/// A line for each 16-bit dtype that the CPU emulated; none where it did not.
std::string emulation_notes(const std::vector<Row>& rows) {
  std::map<std::string, std::string> cases;  // by dtype
  for (const Row& row : rows) {
    const std::string dtype = emulated_dtype(row);
    if (dtype.empty()) continue;
    std::string& names = cases[dtype];
    names += (names.empty() ? "" : ", ") + text_in(row, column::case_);
  }
  std::string text;
  for (const auto& [dtype, names] : cases) {
    text += printable("Emulated: this CPU has no instructions for products of " + dtype +
                      ", so these step times are not the technique's: " + names) +
            "\n";
  }
  return text;
}

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

/// The steps of rows whose suite has a published time, below their table; empty where none has one.
std::string published_times(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Row& row : rows) {
    const auto step = step_of_published(row);
    if (!step) continue;
    lines.push_back({text_in(row, column::case_),
                     fmt::format("{:.2f} min", *number_in(row, column::published_run_time_s) / 60),
                     fmt::format("{}", *number_in(row, column::published_updates)),
                     milliseconds(step->published_ns), step_time(row),
                     fmt::format("{:.0f} %", step->percent())});
  }
  if (lines.empty()) return "";
  return "\n" +
         format_table({"case", "published run", "updates", "an update", "step time", "of it"},
                      lines, {"published run", "updates", "an update", "step time", "of it"});
}

/// A table of rows, without the columns of `spare` in which no row has anything.
std::string without_empty(std::vector<std::string> header,
                          std::vector<std::vector<std::string>> rows,
                          const std::vector<std::string>& right,
                          const std::vector<std::string>& spare) {
  for (std::size_t i = header.size(); i-- > 0;) {
    const bool is_spare = std::ranges::find(spare, header[i]) != spare.end();
    if (!is_spare || std::ranges::any_of(rows, [&](const auto& row) { return !row[i].empty(); }))
      continue;
    header.erase(header.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return format_table(header, rows, right);
}

}  // namespace

std::string format_summary(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines;
  std::map<std::pair<std::string, std::int64_t>, const Row*> plain;  // the last, by model and ranks
  for (const Row& row : rows) {
    const std::pair like{text_in(row, column::model), ranks_of(row)};
    const bool is_one = is_plain(row);
    const bool comparable = !is_one && plain.contains(like);
    const auto [figure, error] = published(row);
    lines.push_back({text_in(row, column::case_), text_in(row, column::status), fits(row),
                     peak(row), comparable ? saved(row, *plain[like]) : "", reserved(row),
                     bytes_in(row, column::driver_peak_bytes), figure, error, step_time(row),
                     text_in(row, column::reason)});
    if (is_one) plain[like] = &row;
  }
  return without_empty({"case", "status", "fits", "peak", "saved", "reserved", "driver",
                        "published", "error", "step time", "reason"},
                       std::move(lines),
                       {"peak", "saved", "reserved", "driver", "published", "error", "step time"},
                       {"fits", "reserved", "driver", "published", "error"}) +
         published_times(rows) + emulation_notes(rows);
}

std::string format_repeats(const std::vector<Results>& results) {
  std::vector<std::vector<std::string>> lines;
  for (const Repeats& one : repeats_of(results)) {
    if (one.runs.empty()) continue;  // it was not asked for
    const std::vector<double> peaks = one.values(kPeak);
    std::vector<double> times = one.times(kStepTime);
    std::ranges::sort(times);
    const bool has_times = !times.empty();
    lines.push_back(
        {one.name, one.status(), std::to_string(one.runs.size()),
         peaks.empty() ? "" : format_bytes(std::llround(*std::ranges::max_element(peaks))),
         has_times ? milliseconds(median(times)) : "", has_times ? milliseconds(times.front()) : "",
         has_times ? milliseconds(times.back()) : ""});
  }
  return format_table({"case", "status", "processes", "peak", "step time", "shortest", "longest"},
                      lines, {"processes", "peak", "step time", "shortest", "longest"});
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
