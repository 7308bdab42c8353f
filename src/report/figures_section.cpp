// SPDX-License-Identifier: Apache-2.0
#include "src/report/course_figure.h"
#include "src/report/peak_figure.h"
#include "src/report/sections.h"
#include "src/report/tradeoff_figure.h"

namespace headroom {
namespace {

Html figures(const std::string& title, const std::string& note, const std::vector<Group>& groups,
             Html (*figure)(const Group&)) {
  Html parts;
  for (const Group& group : groups) parts += figure(group);
  if (parts.empty()) return {};
  return element("h3", title) + element("p", {{"class", "note"}}, note) + parts;
}

}  // namespace

Html peak_section(const std::vector<Group>& groups) {
  return figures(
      "What the peak is made of",
      "Every byte that was allocated at the peak of the run, by what it was for. Percent "
      "are of the plain case's peak.",
      groups, &peak_figure);
}

Html course_section(const std::vector<Group>& groups) {
  return figures("Memory over a step",
                 "The most that was live at each place that a step came to, in the order of time; "
                 "all places are as wide. The dot marks the step's peak. Steps of one model share "
                 "a scale.",
                 groups, &course_figures);
}

Html tradeoff_section(const std::vector<Group>& groups) {
  return figures(
      "Memory against time",
      "Each case by the number it has in the table. To the right is faster, further down "
      "is less memory.",
      groups, &tradeoff_figure);
}

}  // namespace headroom
