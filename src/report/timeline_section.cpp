// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/sections.h"
#include "src/report/svg.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kTimelineTop = 12;     // above the highest peak
constexpr double kTimelineHeight = 96;  // from there down to 0
constexpr double kTimelineBottom = 16;  // for the names of the phases
constexpr std::size_t kMaxPoints = 160;
constexpr double kPercentForPhase = 18;

struct DrawnTimeline {
  const CaseLine* line;
  MemoryTimeline timeline;
  std::size_t peak;  // the place of the most bytes
};

std::vector<DrawnTimeline> drawn_timelines(const CaseGroup& group) {
  std::vector<DrawnTimeline> list;
  for (const CaseLine& line : group.lines) {
    auto timeline = read_memory_timeline(line.result->record);
    if (timeline.empty() || !peak_of(line.row())) continue;
    const auto peak =
        std::ranges::max_element(timeline, {}, &TimelinePlace::bytes) - timeline.begin();
    list.push_back({&line, std::move(timeline), static_cast<std::size_t>(peak)});
  }
  return list;
}

/// Of many places, the most of each stretch.
std::vector<double> points_of(const MemoryTimeline& timeline) {
  const std::size_t count = std::min(timeline.size(), kMaxPoints);
  std::vector<double> points(count);
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    double& point = points[i * count / timeline.size()];
    point = std::max(point, timeline[i].bytes);
  }
  return points;
}

/// The area below the timeline, in a box of its own: a point wide is one, 100 high is `largest`.
Html timeline_area(const std::vector<double>& points, double largest) {
  std::string path = "M0,100";
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += fmt::format("V{:.1f}H{}", 100 - 100 * points[i] / largest, i + 1);
  }
  path += "V100Z";
  return element("svg",
                 {{"y", fmt::format("{}", kTimelineTop)},
                  {"width", "100%"},
                  {"height", fmt::format("{}", kTimelineHeight)},
                  {"viewBox", fmt::format("0 0 {} 100", points.size())},
                  {"preserveAspectRatio", "none"}},
                 empty_element("path", {{"class", "area"}, {"d", path}}));
}

/// Every second phase shaded, each with its name where there is room.
Html timeline_phases(const MemoryTimeline& timeline) {
  Html parts;
  const double width = 100.0 / static_cast<double>(timeline.size());
  bool is_shaded = false;
  for (std::size_t begin = 0, end = 0; begin < timeline.size(); begin = end) {
    while (end < timeline.size() && timeline[end].phase == timeline[begin].phase) ++end;
    const double x = static_cast<double>(begin) * width;
    const double wide = static_cast<double>(end - begin) * width;
    if (is_shaded) parts += svg_rectangle("phase", {x, 0, wide, kTimelineTop + kTimelineHeight});
    if (wide >= kPercentForPhase) {
      parts += svg_text("tick", x + wide / 2, kTimelineTop + kTimelineHeight + 13,
                        timeline[begin].phase, Anchor::middle);
    }
    is_shaded = !is_shaded;
  }
  return parts;
}

/// Drawn over the area, so that the amounts can be read.
Html timeline_grid(double largest) {
  Html parts =
      svg_line("axis", 0, kTimelineTop + kTimelineHeight, 100, kTimelineTop + kTimelineHeight);
  for (const Tick& tick : byte_ticks(largest, 2)) {
    const double y = kTimelineTop + kTimelineHeight * (1 - tick.value / largest);
    parts += svg_line("grid", 0, y, 100, y);
    parts += svg_text("tick", 0, y - 2, tick.text);
  }
  return parts;
}

Html peak_mark(const DrawnTimeline& drawn, double largest) {
  const double places = static_cast<double>(drawn.timeline.size());
  const double x = 100 * (static_cast<double>(drawn.peak) + 0.5) / places;
  const double y =
      kTimelineTop + kTimelineHeight * (1 - drawn.timeline[drawn.peak].bytes / largest);
  return svg_circle("mark", x, y, 4);
}

std::string place_text(const TimelinePlace& place) {
  std::string text = fmt::format("{} in {}", bytes_text(place.bytes), place.phase);
  if (place.block) text += fmt::format(", block {}", *place.block);
  return text;
}

Html timeline_figure(const DrawnTimeline& drawn, double largest) {
  const std::string& name = drawn.line->result->name;
  const std::string peak = place_text(drawn.timeline[drawn.peak]);
  const Html parts = timeline_phases(drawn.timeline) +
                     timeline_area(points_of(drawn.timeline), largest) + timeline_grid(largest) +
                     peak_mark(drawn, largest);
  const Html svg = svg_figure(
      "course", kTimelineTop + kTimelineHeight + kTimelineBottom, "Memory over a step of " + name,
      "Bytes live from the step's begin to its end. The most: " + peak + ".", parts);
  const Html head =
      element("span", {{"class", "row-number"}}, fmt::format("{}", drawn.line->number)) +
      name_html(name);
  return element("figure", {{"class", "small"}},
                 element("figcaption", head + element("span", {{"class", "where"}}, peak)) + svg);
}

Html timeline_figures(const CaseGroup& group) {
  const std::vector<DrawnTimeline> timelines = drawn_timelines(group);
  double largest = 0;
  for (const DrawnTimeline& drawn : timelines)
    largest = std::max(largest, drawn.timeline[drawn.peak].bytes);
  if (largest <= 0) return {};
  Html figures;
  for (const DrawnTimeline& drawn : timelines) figures += timeline_figure(drawn, largest);
  return element("h4", name_html(group.title)) + element("div", {{"class", "multiples"}}, figures);
}

}  // namespace

MemoryTimeline read_memory_timeline(const Json& record) {
  if (!record.is_object() || !record.contains("step_memory")) return {};
  MemoryTimeline timeline;
  for (const Json& place : record["step_memory"]) {
    const bool is_place = place.is_array() && place.size() == 3 && place[0].is_string() &&
                          (place[1].is_null() || place[1].is_number_integer()) &&
                          place[2].is_number() && place[2].get<double>() >= 0;
    if (!is_place) return {};
    TimelinePlace& read = timeline.emplace_back();
    read.phase = place[0].get<std::string>();
    if (!place[1].is_null()) read.block = place[1].get<std::int64_t>();
    read.bytes = place[2].get<double>();
  }
  return timeline;
}

Html timeline_section(const std::vector<CaseGroup>& groups) {
  return figures_section(
      "Memory over a step",
      "The most that was live at each place that a step came to, in the order of time; "
      "all places are as wide. The dot marks the step's peak. Steps of one model share "
      "a scale.",
      groups, &timeline_figures);
}

}  // namespace headroom
