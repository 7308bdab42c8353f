// SPDX-License-Identifier: Apache-2.0
#include "src/compare/change_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "src/core/bytes.h"
#include "src/core/enum_names.h"

namespace headroom {
namespace {

constexpr std::size_t kMostBlocks = 8;  // that are named

bool is_bytes(const std::string& column) { return column.find("_bytes") != std::string::npos; }

std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + format_bytes(std::abs(bytes));
}

double percent_of(double ratio) { return 100 * (ratio - 1); }

std::string blocks_text(const std::vector<std::int64_t>& blocks) {
  if (blocks.empty()) return "outside of the blocks";
  if (blocks.size() == 1) return fmt::format("in block {}", blocks.front());
  std::string names;
  for (std::size_t i = 0; i < std::min(blocks.size(), kMostBlocks); ++i) {
    names += (i == 0 ? "" : ", ") + std::to_string(blocks[i]);
  }
  if (blocks.size() > kMostBlocks) names += ", ...";
  return fmt::format("in each of {} blocks ({})", blocks.size(), names);
}

}  // namespace

std::string figure_text(const std::string& column, double value) {
  if (is_bytes(column)) return format_bytes(std::llround(value));
  if (column.ends_with("_ns")) return fmt::format("{:.2f} ms", value / 1e6);
  return fmt::format("{:.6g}", value);
}

std::string change_text(const FigureChange& change) {
  if (change.ratio) {
    std::string text = fmt::format("{:+.1f} %", percent_of(*change.ratio));
    if (!std::isinf(change.interval->upper)) {
      text += fmt::format(" ({:+.1f} to {:+.1f})", percent_of(change.interval->lower),
                          percent_of(change.interval->upper));
    }
    return text;
  }
  const double difference = change.new_value - change.old_value;
  const std::string much = is_bytes(change.column) ? signed_bytes(std::llround(difference))
                                                   : fmt::format("{:+.6g}", difference);
  if (change.old_value == 0) return much;
  return much + fmt::format(" ({:+.2f} %)", change.percent());
}

std::string growth_text(const Growth& growth) {
  std::string text = fmt::format("{} {}", growth.category, signed_bytes(growth.total_bytes()));
  if (growth.phase.empty()) return text;
  text += fmt::format(": {} {} of {} {}, made in {}", std::abs(growth.count),
                      growth.count > 0 ? "more" : "fewer", format_bytes(growth.bytes),
                      blocks_text(growth.blocks), growth.phase);
  return growth.op.empty() ? text : text + ", " + growth.op;
}

std::string status_text(const CaseChange& change) {
  if (change.new_status.empty()) return "vanished";
  if (change.old_status.empty()) return "new, " + change.new_status;
  if (change.old_status == change.new_status) return change.new_status;
  const std::string text = change.new_status + ", was " + change.old_status;
  return change.reason.empty() ? text : text + ": " + change.reason;
}

std::string count_text(const Comparison& comparison) {
  const auto names = enum_names<Trend>();
  std::string text = fmt::format("{} {}: ", comparison.cases.size(),
                                 comparison.cases.size() == 1 ? "case" : "cases");
  bool is_first = true;
  for (std::size_t i = names.size(); i-- > 0;) {  // the gravest first
    const auto count =
        std::ranges::count(comparison.cases, static_cast<Trend>(i), &CaseChange::trend);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", is_first ? "" : ", ", count, names[i]);
    is_first = false;
  }
  return text;
}

}  // namespace headroom
