// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "src/report/amounts.h"
#include "src/report/figure_sources.h"
#include "src/report/sections.h"

namespace headroom {
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
    const auto fills = [&](const FigureSources& one) { return (one.*column.value).has_value(); };
    if (std::ranges::any_of(cases, [&](const ComparedCase& one) {
          return std::ranges::any_of(one.figures, fills);
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
  for (const ComparedCase& one : cases) {
    for (const FigureSources& figure : one.figures) {
      std::vector<HtmlCell> cells = {{name_html(one.result->name)}, {words_of(figure.figure)}};
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
  for (const CaseResult& one : results.cases) {
    auto figures = figure_sources(one, find_plan(results, one, all));
    // Of a case without figures of its own nothing is off anything.
    std::erase_if(figures, [](const FigureSources& it) { return !it.planned && !it.measured; });
    if (!figures.empty()) cases.push_back({&one, std::move(figures)});
  }
  if (cases.empty()) return {};
  return element("h3", "Published, planned, measured") + table_of(cases) +
         element(
             "p", {{"class", "note"}},
             "Errors are signed, in percent of the published figure; off the plan, of the "
             "planned one. Where the suite names the published CUDA context, it takes the place "
             "of the table's in a plan's driver figure.");
}

}  // namespace headroom
