// SPDX-License-Identifier: Apache-2.0
#include "src/report/figure_sources.h"

#include <algorithm>
#include <string_view>

#include "src/report/amounts.h"

namespace headroom {
namespace {

constexpr std::string_view kPublished = "published_";
constexpr std::string_view kPlanned = "planned_";
constexpr const char* kContext = "context_bytes";  // no figure to compare: see compared_figure()

/// The figures that a row has a column `prefix` + figure of.
void add_figures(const Row& row, std::string_view prefix, std::vector<std::string>& figures) {
  for (const auto& [column, value] : row.items()) {
    if (!column.starts_with(prefix) || !value.is_number()) continue;
    const std::string figure = column.substr(prefix.size());
    if (figure != kContext && std::ranges::count(figures, figure) == 0) figures.push_back(figure);
  }
}

bool is_plan(const Row& row) { return text_in(row, "kind") == "planned"; }

}  // namespace

std::vector<FigureSources> figure_sources(const CaseResult& one, const CaseResult* plan) {
  std::vector<std::string> figures;
  add_figures(one.row, kPublished, figures);
  add_figures(one.row, kPlanned, figures);
  if (plan != nullptr && figures.empty()) figures = {"run_peak_allocated_bytes"};
  std::vector<FigureSources> list;
  for (const std::string& figure : figures) {
    FigureSources comparison{.figure = figure};
    comparison.published = number_in(one.row, std::string(kPublished) + figure);
    const auto own = compared_figure(one.row, figure);
    if (is_plan(one.row)) {
      comparison.planned = own;
    } else {
      comparison.measured = own;
      comparison.planned = number_in(one.row, std::string(kPlanned) + figure);
      if (!comparison.planned && plan != nullptr)
        comparison.planned = compared_figure(plan->row, figure);
    }
    comparison.planned_error = error_percent(comparison.planned, comparison.published);
    comparison.measured_error = error_percent(comparison.measured, comparison.published);
    comparison.measured_off_plan = error_percent(comparison.measured, comparison.planned);
    list.push_back(std::move(comparison));
  }
  return list;
}

const CaseResult* find_plan(const Results& results, const CaseResult& one,
                            const std::vector<Results>& all) {
  if (is_plan(one.row)) return nullptr;
  for (const Results& other : all) {
    const CaseResult* plan = other.suite() == results.suite() ? other.find(one.name) : nullptr;
    if (plan != nullptr && is_plan(plan->row) && plan->work == one.work &&
        text_in(plan->row, "device_name") == text_in(one.row, "device_name")) {
      return plan;
    }
  }
  return nullptr;
}

}  // namespace headroom
