// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/report/sections.h"
#include "src/results/columns.h"
#include "src/suite/case.h"

namespace headroom {
namespace {

using Cells = std::vector<HtmlCell>;

const Row* row_of(const CaseResult* result) { return result == nullptr ? nullptr : &result->row; }

/// The share of a figure in that of another case; empty where there is none.
HtmlCell share_of(const Row& row, const CaseResult* other, std::string_view column) {
  const Row* whole = row_of(other);
  return whole == nullptr ? HtmlCell{}
                          : share_cell(number_in(row, column), number_in(*whole, column));
}

/// Of steps the share is only told between steps of as many samples.
HtmlCell share_of_step(const Row& row, const CaseResult* other, std::string_view column) {
  const Row* whole = row_of(other);
  const bool is_alike = whole != nullptr &&
                        number_in(row, column::batch_size) == number_in(*whole, column::batch_size);
  return is_alike ? share_of(row, other, column) : HtmlCell{};
}

HtmlCell bytes_in(const Row& row, std::string_view column) {
  return bytes_cell(number_in(row, column));
}

/// The estimate of a plan, with its bounds where the host's pace decides.
HtmlCell reserved_cell(const Row& row) {
  HtmlCell cell = bytes_in(row, column::run_peak_reserved_bytes);
  const auto lower = number_in(row, column::run_peak_reserved_lower_bytes);
  const auto upper = number_in(row, column::run_peak_reserved_upper_bytes);
  if (lower && upper && *lower != *upper) {
    cell.content += element("small", bytes_text(*lower) + " to " + bytes_text(*upper));
  }
  return cell;
}

std::string batch_text(const Row& row) {
  const auto batch = number_in(row, column::batch_size);
  const auto micro = number_in(row, column::micro_batch_size);
  if (!batch) return "";
  if (!micro || *micro == *batch) return fmt::format("{:.0f}", *batch);
  return fmt::format("{:.0f} by {:.0f}", *batch, *micro);
}

/// The table of one results folder. A figure that no row has gets no column.
class StackTable {
 public:
  explicit StackTable(const Results& results)
      : is_plan_(results.header["kind"] == "planned"),
        has_reserved_(has(column::run_peak_reserved_bytes, results)),
        has_driver_(has(column::driver_peak_bytes, results)),
        has_accuracy_(has(column::held_out_accuracy, results)),
        has_fits_(has(column::fits, results)),
        table_("Techniques, their memory and their time", columns()) {}

  void add(const CaseGroup& group) {
    table_.add_group(name_html(group.title));
    for (const CaseLine& line : group.lines) table_.add_row(cells(line));
  }

  Html html() const { return table_.html(); }

 private:
  static bool has(std::string_view column, const Results& results) {
    return std::ranges::any_of(
        results.cases, [&](const CaseResult& result) { return result.row.contains(column); });
  }

  std::vector<HtmlColumn> columns() const {
    const std::string memory = "peak memory of the run";
    const std::string time = is_plan_ ? "time, estimated" : "time";
    std::vector<HtmlColumn> list = {{"case and its techniques"},
                                    {"batch", true},
                                    {"allocated", true, memory},
                                    {"% of row before", true, memory},
                                    {"% of plain", true, memory}};
    if (has_reserved_) list.push_back({"reserved", true, memory});
    if (has_driver_) list.push_back({"driver", true, memory});
    list.push_back({"step", true, time});
    if (!is_plan_) list.push_back({"samples a second", true, time});
    list.push_back({"% of row before", true, time});
    list.push_back({"% of plain", true, time});
    if (has_accuracy_) list.push_back({"accuracy", true});
    if (has_fits_) list.push_back({"fits"});
    return list;
  }

  static HtmlCell head(const CaseLine& line) {
    std::string techniques;
    for (const char c : text_in(line.row(), column::techniques)) {
      techniques += c == '+' ? " + " : std::string(1, c);  // so that lines can break there
    }
    const Html number = element("span", {{"class", "row-number"}}, std::to_string(line.number));
    const Html names = element(
        "small", techniques.empty() || techniques == kNoTechniques ? "no technique" : techniques);
    return {element("div", {{"class", "stacked"}}, number + name_html(line.result->name) + names)};
  }

  Cells cells(const CaseLine& line) const {
    const Row& row = line.row();
    Cells list = {head(line), {batch_text(row)}};
    if (!peak_of(row)) {
      const Html why =
          element("b", text_in(row, column::status)) + " " + text_in(row, column::reason);
      list.push_back({why, "", columns().size() - list.size()});
      return list;
    }
    add_memory(line, list);
    add_time(line, list);
    if (has_accuracy_) list.push_back(number_cell(number_in(row, column::held_out_accuracy)));
    if (has_fits_) list.push_back(fits_cell(row));
    return list;
  }

  void add_memory(const CaseLine& line, Cells& list) const {
    constexpr std::string_view peak = column::run_peak_allocated_bytes;
    list.push_back(bytes_in(line.row(), peak));
    list.push_back(share_of(line.row(), line.before, peak));
    list.push_back(share_of(line.row(), line.plain, peak));
    if (has_reserved_) list.push_back(reserved_cell(line.row()));
    if (has_driver_) list.push_back(bytes_in(line.row(), column::driver_peak_bytes));
  }

  void add_time(const CaseLine& line, Cells& list) const {
    const std::string_view step =
        is_plan_ ? column::step_time_estimate_ns : column::step_time_median_ns;
    constexpr std::string_view speed = column::samples_per_second;
    list.push_back(time_cell(number_in(line.row(), step)));
    if (!is_plan_) list.push_back(number_cell(number_in(line.row(), speed)));
    for (const CaseResult* other : {line.before, line.plain}) {
      list.push_back(is_plan_ ? share_of_step(line.row(), other, step)
                              : share_of(line.row(), other, speed));
    }
  }

  static HtmlCell fits_cell(const Row& row) {
    const auto missing = number_in(row, column::missing_bytes);
    const std::string answer = text_in(row, column::fits);
    if (!missing) return {answer};
    return {answer + ", by " + bytes_text(*missing), fmt::format("{:.0f} bytes", *missing)};
  }

  bool is_plan_;
  bool has_reserved_;
  bool has_driver_;
  bool has_accuracy_;
  bool has_fits_;
  HtmlTable table_;
};

}  // namespace

Html stack_section(const Results& results, const std::vector<CaseGroup>& groups) {
  if (results.cases.empty()) return {};
  StackTable table(results);
  for (const CaseGroup& group : groups) table.add(group);
  const bool is_plan = results.header["kind"] == "planned";
  const std::string how =
      std::string(
          "Row before: the nearest above with figures. Plain: the case with no technique "
          "and the same fields, or, where the suite has none, the nearest above with no "
          "technique. ") +
      (is_plan
           ? "A plan's step is an estimate, kernel by kernel; its percents are between steps of as "
             "many samples."
           : "Time's percents are of samples a second: more is faster.");
  return element("h3", "Technique by technique") + table.html() +
         element("p", {{"class", "note"}}, how);
}

}  // namespace headroom
