// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "src/report/sections.h"
#include "src/results/columns.h"

namespace headroom {

// The figures of a case, by where they come from.
namespace {

/// Adds the figures that a row has a column `prefix` + figure of. The context is none: it corrects
/// another, see compared_figure(). Neither is what a source says of its run as a whole.
void add_figures(const Row& row, std::string_view prefix, std::vector<std::string>& figures) {
  for (const auto& [column, value] : row.items()) {
    if (!column.starts_with(prefix) || !value.is_number()) continue;
    const std::string figure = column.substr(prefix.size());
    const bool is_one =
        figure != column::context_bytes && std::ranges::count(kPublishedAlone, figure) == 0;
    if (is_one && std::ranges::count(figures, figure) == 0) figures.push_back(figure);
  }
}

bool is_plan(const Row& row) { return text_in(row, column::kind) == "planned"; }

/// How many percent `figure` lies from `reference`; nothing where either is missing, or `reference`
/// is 0.
std::optional<double> error_percent(std::optional<double> figure, std::optional<double> reference) {
  if (!figure || !reference || *reference == 0) return std::nullopt;
  return 100 * (*figure - *reference) / *reference;
}

}  // namespace

std::vector<FigureSources> figure_sources(const CaseResult& result, const CaseResult* plan) {
  std::vector<std::string> figures;
  add_figures(result.row, kPublishedPrefix, figures);
  add_figures(result.row, kPlannedPrefix, figures);
  if (plan != nullptr && figures.empty()) figures.emplace_back(column::run_peak_allocated_bytes);
  add_figures(result.row, kRulePrefix, figures);
  std::vector<FigureSources> list;
  for (const std::string& figure : figures) {
    FigureSources comparison{.figure = figure};
    comparison.rule = number_in(result.row, std::string(kRulePrefix) + figure);
    comparison.published = number_in(result.row, std::string(kPublishedPrefix) + figure);
    const auto own = compared_figure(result.row, figure);
    if (is_plan(result.row)) {
      comparison.planned = own;
    } else {
      comparison.measured = own;
      comparison.planned = number_in(result.row, std::string(kPlannedPrefix) + figure);
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

const CaseResult* find_plan(const Results& results, const CaseResult& result,
                            const std::vector<Results>& all) {
  if (is_plan(result.row)) return nullptr;
  for (const Results& other : all) {
    const CaseResult* plan = other.suite() == results.suite() ? other.find(result.name) : nullptr;
    if (plan != nullptr && is_plan(plan->row) && plan->work == result.work &&
        text_in(plan->row, column::device_name) == text_in(result.row, column::device_name)) {
      return plan;
    }
  }
  return nullptr;
}

// The table of them.
namespace {

struct ComparedCase {
  const CaseResult* result;
  std::vector<FigureSources> figures;
};

HtmlCell figure_cell(const std::string& figure, std::optional<double> value) {
  return figure.ends_with("_bytes") ? bytes_cell(value) : number_cell(value);
}

/// "run peak reserved" of "run_peak_reserved_bytes".
std::string words_of(std::string figure) {
  constexpr std::string_view kUnit = "_bytes";
  if (figure.ends_with(kUnit)) figure.erase(figure.size() - kUnit.size());
  std::ranges::replace(figure, '_', ' ');
  return figure;
}

/// A column of the table; one that no row fills is left out.
struct SourceColumn {
  const char* title;
  std::optional<double> FigureSources::*value;
  bool is_error;
};

constexpr std::array kSourceColumns = {
    SourceColumn{"rule of thumb", &FigureSources::rule, false},
    SourceColumn{"published", &FigureSources::published, false},
    SourceColumn{"planned", &FigureSources::planned, false},
    SourceColumn{"error", &FigureSources::planned_error, true},
    SourceColumn{"measured", &FigureSources::measured, false},
    SourceColumn{"error", &FigureSources::measured_error, true},
    SourceColumn{"off the plan", &FigureSources::measured_off_plan, true},
};

std::vector<SourceColumn> filled_columns(const std::vector<ComparedCase>& cases) {
  std::vector<SourceColumn> columns;
  for (const SourceColumn& column : kSourceColumns) {
    const auto fills = [&](const FigureSources& figure) {
      return (figure.*column.value).has_value();
    };
    if (std::ranges::any_of(cases, [&](const ComparedCase& compared) {
          return std::ranges::any_of(compared.figures, fills);
        })) {
      columns.push_back(column);
    }
  }
  return columns;
}

Html table_of(const std::vector<ComparedCase>& cases) {
  const std::vector<SourceColumn> columns = filled_columns(cases);
  std::vector<HtmlColumn> titles = {{"case"}, {"figure"}};
  for (const SourceColumn& column : columns) titles.push_back({column.title, true});
  HtmlTable table("Published, planned and measured", titles);
  for (const ComparedCase& compared : cases) {
    for (const FigureSources& figure : compared.figures) {
      std::vector<HtmlCell> cells = {{name_html(compared.result->name)}, {words_of(figure.figure)}};
      for (const SourceColumn& column : columns) {
        const auto value = figure.*column.value;
        cells.push_back(column.is_error ? error_cell(value) : figure_cell(figure.figure, value));
      }
      table.add_row(cells);
    }
  }
  return table.html();
}

}  // namespace

Html figure_sources_section(const Results& results, const std::vector<Results>& all) {
  std::vector<ComparedCase> cases;
  for (const CaseResult& result : results.cases) {
    auto figures = figure_sources(result, find_plan(results, result, all));
    // A case without figures of its own is off nothing.
    std::erase_if(figures, [](const FigureSources& it) { return !it.planned && !it.measured; });
    if (!figures.empty()) cases.push_back({&result, std::move(figures)});
  }
  if (cases.empty()) return {};
  return element("h3", "Published, planned, measured") + table_of(cases) +
         element(
             "p", {{"class", "note"}},
             "Errors are signed, in percent of the published figure; off the plan, of the "
             "planned one. Where the suite names the published CUDA context, it takes the place "
             "of the table's in a plan's driver figure. Rules of thumb: docs/planning.md.");
}

}  // namespace headroom
