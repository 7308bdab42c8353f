// SPDX-License-Identifier: Apache-2.0
#include "src/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headroom {
namespace {

std::string pixels(double value) { return fmt::format("{:.1f}", value); }
std::string percent(double value) { return fmt::format("{:.2f}%", value); }

Html tip_of(const std::string& tip) { return tip.empty() ? Html() : element("title", tip); }

/// The smallest round step of which `most` reach `largest`.
double step_for(double largest, int most) {
  const double least = largest / (most + 1);  // so many more would not fit
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor > least) return power * factor;
  }
  return power * 10;
}

std::vector<Tick> ticks(double largest, int most, double unit, const std::string& name) {
  std::vector<Tick> list;
  if (!(largest > 0) || !std::isfinite(largest)) return list;
  const double step = step_for(largest / unit, most);
  if (!(step > 0)) return list;  // of what is next to nothing
  for (int i = 1; i * step * unit <= largest; ++i) {
    list.push_back({i * step * unit, fmt::format("{:.6g}{}", i * step, name)});
  }
  return list;
}

}  // namespace

Html svg_figure(const std::string& style, double height, const std::string& title,
                const std::string& description, const Html& parts) {
  return element("svg",
                 {{"class", style},
                  {"width", "100%"},
                  {"height", fmt::format("{:.0f}", height)},
                  {"role", "img"}},
                 element("title", title) + element("desc", description) + parts);
}

Html svg_rectangle(const std::string& style, const SvgBox& box, const std::string& tip) {
  return element("rect",
                 {{"class", style},
                  {"x", percent(box.x)},
                  {"y", pixels(box.y)},
                  {"width", percent(box.width)},
                  {"height", pixels(box.height)}},
                 tip_of(tip));
}

Html svg_text(const std::string& style, double x, double y, const Html& text, Anchor anchor,
              double shift) {
  constexpr std::array kAnchors = {"start", "middle", "end"};
  return element("text",
                 {{"class", style},
                  {"x", percent(x)},
                  {"y", pixels(y)},
                  {"dx", pixels(shift)},
                  {"text-anchor", kAnchors[static_cast<std::size_t>(anchor)]}},
                 text);
}

Html svg_line(const std::string& style, double x1, double y1, double x2, double y2) {
  return empty_element("line", {{"class", style},
                                {"x1", percent(x1)},
                                {"y1", pixels(y1)},
                                {"x2", percent(x2)},
                                {"y2", pixels(y2)}});
}

Html svg_circle(const std::string& style, double x, double y, double radius,
                const std::string& tip) {
  return element("circle",
                 {{"class", style}, {"cx", percent(x)}, {"cy", pixels(y)}, {"r", pixels(radius)}},
                 tip_of(tip));
}

std::string shortened(const std::string& text, std::size_t characters) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_one = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_one && ++seen > characters) return text.substr(0, i) + "\u2026";
  }
  return text;
}

std::vector<Tick> byte_ticks(double largest, int most) {
  constexpr std::array kUnits = {" bytes", " KiB", " MiB", " GiB"};
  double unit = 1;
  std::size_t i = 0;
  for (; i + 1 < kUnits.size() && largest >= unit * 1024; ++i) unit *= 1024;
  return ticks(largest, most, unit, kUnits[i]);
}

std::vector<Tick> number_ticks(double largest, int most) { return ticks(largest, most, 1, ""); }

}  // namespace headroom
