// SPDX-License-Identifier: Apache-2.0
#include "src/report/amounts.h"

#include <fmt/format.h>

#include <cmath>

#include "src/core/bytes.h"

namespace headroom {

std::string bytes_text(double bytes) { return format_bytes(std::llround(bytes)); }

HtmlCell bytes_cell(std::optional<double> bytes) {
  if (!bytes) return {};
  return {bytes_text(*bytes), fmt::format("{} bytes", std::llround(*bytes))};
}

HtmlCell bytes_cell(const Row& row, const std::string& column) {
  return bytes_cell(number_in(row, column));
}

HtmlCell time_cell(std::optional<double> nanoseconds) {
  if (!nanoseconds) return {};
  return {fmt::format("{:.1f} ms", *nanoseconds / 1e6),
          fmt::format("{} ns", std::llround(*nanoseconds))};
}

HtmlCell number_cell(std::optional<double> number) {
  if (!number) return {};
  const int decimals = std::abs(*number) >= 1000 ? 0 : std::abs(*number) >= 10 ? 1 : 3;
  return {fmt::format("{:.{}f}", *number, decimals), fmt::format("{}", *number)};
}

HtmlCell share_cell(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || *whole == 0) return {};
  return {fmt::format("{:.1f}", 100 * *part / *whole)};
}

HtmlCell error_cell(std::optional<double> percent) {
  if (!percent) return {};
  return {fmt::format("{:+.1f} %", *percent)};
}

std::optional<double> error_percent(std::optional<double> figure, std::optional<double> reference) {
  if (!figure || !reference || *reference == 0) return std::nullopt;
  return 100 * (*figure - *reference) / *reference;
}

}  // namespace headroom
