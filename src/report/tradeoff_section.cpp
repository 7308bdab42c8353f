// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "src/report/sections.h"
#include "src/report/svg.h"
#include "src/results/columns.h"

namespace headroom {

namespace {

/// Samples a second, with the bounds of a plan's estimate.
std::optional<Speed> speed_of(const Row& row) {
  if (const auto measured = number_in(row, column::samples_per_second)) {
    return Speed{*measured, *measured, *measured};
  }
  const auto batch = number_in(row, column::global_batch_size);
  const auto step = number_in(row, column::step_time_estimate_ns);
  const auto shortest = number_in(row, column::step_time_estimate_lower_ns);
  const auto longest = number_in(row, column::step_time_estimate_upper_ns);
  if (!batch || !step || !shortest || !longest) return std::nullopt;
  if (*step <= 0 || *shortest <= 0 || *longest <= 0) return std::nullopt;
  return Speed{*batch * 1e9 / *step, *batch * 1e9 / *longest, *batch * 1e9 / *shortest};
}

}  // namespace

std::vector<Tradeoff> tradeoffs_of(const CaseGroup& group) {
  std::vector<Tradeoff> list;
  for (const CaseLine& line : group.lines) {
    const auto speed = speed_of(line.row());
    const auto peak = peak_of(line.row());
    if (speed && peak) list.push_back({&line, *speed, *peak});
  }
  std::ranges::stable_sort(list, [](const Tradeoff& a, const Tradeoff& b) {
    return std::tuple(-a.speed.likely, a.peak_bytes) < std::tuple(-b.speed.likely, b.peak_bytes);
  });
  // None before is slower: only less memory than all of them is better in anything.
  double least = std::numeric_limits<double>::infinity();
  const Tradeoff* last = nullptr;
  for (Tradeoff& tradeoff : list) {
    const bool is_as_good = last != nullptr && tradeoff.peak_bytes == last->peak_bytes &&
                            tradeoff.speed.likely == last->speed.likely;
    tradeoff.is_best = tradeoff.peak_bytes < least || is_as_good;
    if (tradeoff.is_best) last = &tradeoff;
    least = std::min(least, tradeoff.peak_bytes);
  }
  return list;
}

namespace {

constexpr double kTradeoffTop = 20;
constexpr double kTradeoffHeight = 280;
constexpr double kTradeoffBottom = 34;
constexpr double kFull = 92;  // percent of the width, or of the height, that the largest takes

/// A figure's scales: both begin at 0.
struct Scales {
  double fastest = 0;
  double largest = 0;

  double x(double speed) const { return kFull * speed / fastest; }
  double y(double bytes) const {
    return kTradeoffTop + kTradeoffHeight * (1 - kFull / 100 * bytes / largest);
  }
};

Scales scales_of(const std::vector<Tradeoff>& list) {
  Scales scales;
  for (const Tradeoff& tradeoff : list) {
    scales.fastest = std::max(scales.fastest, tradeoff.speed.most);
    scales.largest = std::max(scales.largest, tradeoff.peak_bytes);
  }
  return scales;
}

Html axes(const Scales& scales) {
  Html parts =
      svg_line("axis", 0, kTradeoffTop + kTradeoffHeight, 100, kTradeoffTop + kTradeoffHeight);
  for (const Tick& tick : byte_ticks(scales.largest, 5)) {
    parts += svg_line("grid", 0, scales.y(tick.value), 100, scales.y(tick.value));
    parts += svg_text("tick", 0, scales.y(tick.value) - 3, tick.text);
  }
  for (const Tick& tick : number_ticks(scales.fastest, 5)) {
    parts += svg_text("tick", scales.x(tick.value), kTradeoffTop + kTradeoffHeight + 14, tick.text,
                      Anchor::middle);
  }
  parts += svg_text("tick", 0, 10, "peak allocated memory");
  parts +=
      svg_text("tick", 100, kTradeoffTop + kTradeoffHeight + 29, "samples per second", Anchor::end);
  return parts;
}

/// Between the best cases: to get less memory than one has, its speed must be given up.
Html front(const std::vector<Tradeoff>& list, const Scales& scales) {
  Html parts;
  const Tradeoff* last = nullptr;
  for (const Tradeoff& tradeoff : list) {
    if (!tradeoff.is_best) continue;
    if (last != nullptr) {
      const double x = scales.x(tradeoff.speed.likely);
      const double y = scales.y(last->peak_bytes);
      parts += svg_line("front", scales.x(last->speed.likely), y, x, y);
      parts += svg_line("front", x, y, x, scales.y(tradeoff.peak_bytes));
    }
    last = &tradeoff;
  }
  return parts;
}

/// "1.50 GiB, 210.4 samples a second", and of a plan " (140.2 to 260.1)".
std::string figures_of(const Tradeoff& tradeoff) {
  const Speed& speed = tradeoff.speed;
  std::string text =
      fmt::format("{}, {:.1f} samples a second", bytes_text(tradeoff.peak_bytes), speed.likely);
  if (speed.is_estimate()) text += fmt::format(" ({:.1f} to {:.1f})", speed.least, speed.most);
  return text;
}

/// Of plans: how fast each case may be.
Html intervals(const std::vector<Tradeoff>& list, const Scales& scales) {
  Html parts;
  for (const Tradeoff& tradeoff : list) {
    if (!tradeoff.speed.is_estimate()) continue;
    const double y = scales.y(tradeoff.peak_bytes);
    parts +=
        svg_line("interval", scales.x(tradeoff.speed.least), y, scales.x(tradeoff.speed.most), y);
  }
  return parts;
}

/// Puts the numbers of points where no other number stands, on a figure of a common width.
class NumberPlacer {
 public:
  /// Where the number goes beside the point, or nothing where all places around it are taken.
  Html place(const std::string& number, double x, double y, const std::string& style) {
    constexpr double kPixelsAPercent = 7.6;
    const double half = 3.5 * static_cast<double>(number.size());
    const std::array<std::array<double, 2>, 4> shifts = {
        {{0, -8}, {0, 16}, {8 + half, 4}, {-8 - half, 4}}};  // intervals lie at the sides
    for (const auto& [dx, dy] : shifts) {
      const std::array<double, 2> at = {x * kPixelsAPercent + dx, y + dy};
      const auto is_near = [&](const auto& other) {
        return std::abs(other[0] - at[0]) < 2 * half + 4 && std::abs(other[1] - at[1]) < 12;
      };
      if (std::ranges::any_of(taken_, is_near)) continue;
      taken_.push_back(at);
      return svg_text(style, x, y + dy, number, Anchor::middle, dx);
    }
    return {};
  }

 private:
  std::vector<std::array<double, 2>> taken_;
};

Html points(const std::vector<Tradeoff>& list, const Scales& scales) {
  Html parts;
  NumberPlacer numbers;
  for (const bool is_best : {true, false}) {  // whose numbers matter first
    for (const Tradeoff& tradeoff : list) {
      if (tradeoff.is_best != is_best) continue;
      const double x = scales.x(tradeoff.speed.likely);
      const double y = scales.y(tradeoff.peak_bytes);
      const std::string tip = fmt::format("{} {}: {}", tradeoff.line->number,
                                          tradeoff.line->result->name, figures_of(tradeoff));
      parts += svg_circle(is_best ? "point best" : "point", x, y, is_best ? 5 : 4, tip);
      parts += numbers.place(std::to_string(tradeoff.line->number), x, y,
                             is_best ? "number best" : "number");
    }
  }
  return parts;
}

Html best_list(const std::vector<Tradeoff>& list) {
  Html items;
  for (const Tradeoff& tradeoff : list) {
    if (!tradeoff.is_best) continue;
    items +=
        element("li", element("b", std::to_string(tradeoff.line->number)) + " " +
                          name_html(tradeoff.line->result->name) + ": " + figures_of(tradeoff));
  }
  return element("p",
                 "No other case has both less memory and more speed than these, fastest first:") +
         element("ul", {{"class", "plain"}}, items);
}

Html tradeoff_figure(const CaseGroup& group) {
  const std::vector<Tradeoff> list = tradeoffs_of(group);
  const Scales scales = scales_of(list);
  if (list.size() < 2 || scales.fastest <= 0 || scales.largest <= 0) return {};
  const Html svg = svg_figure(
      "tradeoff", kTradeoffTop + kTradeoffHeight + kTradeoffBottom,
      "Peak memory against samples per second, " + group.title,
      "A point for each case, with its number in the table. To the right is faster, below is less "
      "memory. The list below names the points on the line.",
      axes(scales) + front(list, scales) + intervals(list, scales) + points(list, scales));
  return element("figure", element("figcaption", name_html(group.title)) + svg + best_list(list));
}

}  // namespace

Html tradeoff_section(const std::vector<CaseGroup>& groups) {
  return figures_section(
      "Memory against time",
      "Each case by the number it has in the table. To the right is faster, further down "
      "is less memory. Of a plan the speed is estimated: a line through the point shows how slow "
      "and how fast the case may be.",
      groups, &tradeoff_figure);
}

}  // namespace headroom
