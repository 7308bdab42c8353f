// SPDX-License-Identifier: Apache-2.0
#include "src/report/course_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/report/amounts.h"
#include "src/report/course.h"
#include "src/report/scale.h"
#include "src/report/svg.h"

namespace headroom {
namespace {

constexpr double kTop = 12;     // above the highest peak
constexpr double kPlot = 96;    // from there down to 0
constexpr double kBottom = 16;  // for the names of the phases
constexpr std::size_t kMostPoints = 160;
constexpr double kPercentForText = 18;

struct Drawn {
  const Line* line;
  std::vector<CoursePlace> course;
  std::size_t peak;  // the place of the most bytes
};

std::vector<Drawn> courses_of(const Group& group) {
  std::vector<Drawn> list;
  for (const Line& line : group.lines) {
    auto course = read_course(line.result->record);
    if (course.empty() || !peak_of(line.row())) continue;
    const auto peak = std::ranges::max_element(course, {}, &CoursePlace::bytes) - course.begin();
    list.push_back({&line, std::move(course), static_cast<std::size_t>(peak)});
  }
  return list;
}

/// Of many places, the most of each stretch.
std::vector<double> points_of(const std::vector<CoursePlace>& course) {
  const std::size_t count = std::min(course.size(), kMostPoints);
  std::vector<double> points(count);
  for (std::size_t i = 0; i < course.size(); ++i) {
    double& point = points[i * count / course.size()];
    point = std::max(point, course[i].bytes);
  }
  return points;
}

/// The area below the course, in a box of its own: a point wide is one, 100 high is `largest`.
Html area(const std::vector<double>& points, double largest) {
  std::string path = "M0,100";
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += fmt::format("V{:.1f}H{}", 100 - 100 * points[i] / largest, i + 1);
  }
  path += "V100Z";
  return element("svg",
                 {{"y", fmt::format("{}", kTop)},
                  {"width", "100%"},
                  {"height", fmt::format("{}", kPlot)},
                  {"viewBox", fmt::format("0 0 {} 100", points.size())},
                  {"preserveAspectRatio", "none"}},
                 empty_element("path", {{"class", "area"}, {"d", path}}));
}

/// Every second phase shaded, each with its name where there is room.
Html phases(const std::vector<CoursePlace>& course) {
  Html parts;
  const double width = 100.0 / static_cast<double>(course.size());
  bool is_shaded = false;
  for (std::size_t begin = 0, end = 0; begin < course.size(); begin = end) {
    while (end < course.size() && course[end].phase == course[begin].phase) ++end;
    const double x = static_cast<double>(begin) * width;
    const double wide = static_cast<double>(end - begin) * width;
    if (is_shaded) parts += svg_rectangle("phase", {x, 0, wide, kTop + kPlot});
    if (wide >= kPercentForText) {
      parts +=
          svg_text("tick", x + wide / 2, kTop + kPlot + 13, course[begin].phase, Anchor::middle);
    }
    is_shaded = !is_shaded;
  }
  return parts;
}

/// Drawn over the area, so that the amounts can be read.
Html grid(double largest) {
  Html parts = svg_line("axis", 0, kTop + kPlot, 100, kTop + kPlot);
  for (const Tick& tick : byte_ticks(largest, 2)) {
    const double y = kTop + kPlot * (1 - tick.value / largest);
    parts += svg_line("grid", 0, y, 100, y);
    parts += svg_text("tick", 0, y - 2, tick.text);
  }
  return parts;
}

Html peak_mark(const Drawn& drawn, double largest) {
  const double places = static_cast<double>(drawn.course.size());
  const double x = 100 * (static_cast<double>(drawn.peak) + 0.5) / places;
  const double y = kTop + kPlot * (1 - drawn.course[drawn.peak].bytes / largest);
  return svg_circle("mark", x, y, 4);
}

std::string place_text(const CoursePlace& place) {
  std::string text = fmt::format("{} in {}", bytes_text(place.bytes), place.phase);
  if (place.block) text += fmt::format(", block {}", *place.block);
  return text;
}

Html figure(const Drawn& drawn, double largest) {
  const std::string& name = drawn.line->result->name;
  const std::string peak = place_text(drawn.course[drawn.peak]);
  const Html parts = phases(drawn.course) + area(points_of(drawn.course), largest) + grid(largest) +
                     peak_mark(drawn, largest);
  const Html svg =
      svg_figure("course", kTop + kPlot + kBottom, "Memory over a step of " + name,
                 "Bytes live from the step's begin to its end. The most: " + peak + ".", parts);
  const Html head =
      element("span", {{"class", "row-number"}}, fmt::format("{}", drawn.line->number)) +
      name_html(name);
  return element("figure", {{"class", "small"}},
                 element("figcaption", head + element("span", {{"class", "where"}}, peak)) + svg);
}

}  // namespace

Html course_figures(const Group& group) {
  const std::vector<Drawn> courses = courses_of(group);
  double largest = 0;
  for (const Drawn& one : courses) largest = std::max(largest, one.course[one.peak].bytes);
  if (largest <= 0) return {};
  Html figures;
  for (const Drawn& one : courses) figures += figure(one, largest);
  return element("h4", name_html(group.title)) + element("div", {{"class", "multiples"}}, figures);
}

}  // namespace headroom
