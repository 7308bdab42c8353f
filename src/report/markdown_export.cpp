// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "src/core/bytes.h"
#include "src/report/export.h"
#include "src/report/exported_case.h"
#include "src/core/markup.h"
#include "src/results/statistics.h"

namespace headroom {
namespace {

/// The median, for people; empty where there is no figure.
std::string cell(const Repeats& one, const Figure& figure) {
  const std::vector<double> values = one.values(figure.column);
  if (values.empty()) return "";
  const double middle = median(values);
  if (figure.unit == "bytes") return format_bytes(std::llround(middle));
  return fmt::format("{:.2f} ms", middle / 1e6);
}

/// Only columns that some case of the group has: a plan has no time, the CPU nothing reserved.
std::vector<Figure> figures_of(const std::vector<Repeats>& cases, const std::string& group) {
  std::vector<Figure> figures;
  for (const Figure& figure : kFigures) {
    for (const Repeats& one : cases) {
      if (group_of(one) != group || one.values(figure.column).empty()) continue;
      figures.push_back(figure);
      break;
    }
  }
  return figures;
}

std::string heading(const std::string& group, const std::vector<Figure>& figures) {
  std::string text = "### " + escape_markdown(group) + "\n\n| case |";
  std::string rule = "\n| --- |";
  for (const Figure& figure : figures) {
    text += " " + escape_markdown(figure.column.substr(0, figure.column.rfind('_'))) + " |";
    rule += " --: |";
  }
  return text + " repeats | end |" + rule + " --: | --- |\n";
}

}  // namespace

std::string markdown_export(const std::vector<Results>& all) {
  const std::vector<Repeats> cases = repeats_of(all);
  std::string text;
  std::string group;
  std::vector<Figure> figures;
  for (const Repeats& one : cases) {
    if (group_of(one) != group) {
      group = group_of(one);
      figures = figures_of(cases, group);
      text += (text.empty() ? "" : "\n") + heading(group, figures);
    }
    text += "| " + escape_markdown(one.name) + " |";
    for (const Figure& figure : figures) text += " " + cell(one, figure) + " |";
    text += fmt::format(" {} | {} |\n", one.runs.size(), escape_markdown(ending_of(one)));
  }
  return text;
}

}  // namespace headroom
