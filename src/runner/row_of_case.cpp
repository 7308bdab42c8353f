// SPDX-License-Identifier: Apache-2.0
#include "src/runner/row_of_case.h"

#include <string_view>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPublished = "published_";

bool keeps_figures(const Outcome& outcome) {
  return outcome.verdict.status == Status::ok || outcome.keeps_figures;
}

/// What a row says beyond the columns that were given to it.
Json with_case(Json columns, const Case& one, const Outcome& outcome) {
  columns["case"] = one.name;
  columns["techniques"] = one.technique_names();
  columns["status"] = enum_name(outcome.verdict.status);
  columns["reason"] = outcome.verdict.reason;
  if (outcome.peak_rank && keeps_figures(outcome)) columns["peak_rank"] = *outcome.peak_rank;
  for (const auto& [name, value] : one.published.items()) {
    columns[std::string(kPublished) + name] = value;
  }
  return columns;
}

bool holds_measurements(const Column& column) {
  return column.group != ColumnGroup::identity && column.group != ColumnGroup::work &&
         column.group != ColumnGroup::provenance;
}

Json member(const Json& object, const std::string& name) {
  const auto entry = object.find(name);
  return entry == object.end() ? Json() : *entry;
}

/// How far a figure lies from the published one, in percent of it; null where one is missing.
Json error_percent(const Row& row, const std::string& figure) {
  const auto mine = compared_figure(row, figure);
  const auto published = number_in(row, std::string(kPublished) + figure);
  if (!mine || !published || *published == 0) return {};
  return 100.0 * (*mine - *published) / *published;
}

/// The row with the columns that follow from others.
Row with_errors(const Catalog& catalog, const Row& row) {
  constexpr std::string_view kSuffix = "_error_percent";
  Row result = Row::object();
  for (const Column& column : catalog.columns) {
    Json value = member(row, column.name);
    if (column.name.ends_with(kSuffix)) {
      const std::size_t size = column.name.size() - kSuffix.size();
      value = error_percent(row, column.name.substr(0, size) + "_bytes");
    }
    if (!value.is_null()) result[column.name] = value;
  }
  return result;
}

}  // namespace

Row make_row(const Catalog& catalog, const Case& one, const Outcome& outcome,
             const Json& runner_columns) {
  const Json known = with_case(runner_columns, one, outcome);
  const Json measured = columns_of(outcome.record);
  const bool is_planned = member(known, "kind") == "planned";
  Row row = Row::object();
  for (const Column& column : catalog.columns) {
    if (is_planned && column.is_real_only()) continue;
    Json value;
    if (column.origin == kRunnerOrigin) {
      value = member(known, column.name);
    } else if (!column.case_path().empty()) {
      const Json* field = one.find(column.case_path());
      if (field != nullptr) value = *field;
    } else if (keeps_figures(outcome)) {
      value = across_ranks(column, member(measured, column.name), outcome.rank_records);
    } else if (!holds_measurements(column)) {
      value = member(measured, column.name);
    }
    if (!value.is_null()) row[column.name] = value;
  }
  return with_errors(catalog, row);
}

std::vector<Row> make_rank_rows(const Catalog& catalog, const std::vector<Json>& rank_records) {
  std::vector<Row> rows;
  for (const Json& record : rank_records) {
    Row row{{"rank", rows.size()},
            {"status", member(record, "status")},
            {"reason", member(record, "reason")}};
    const bool is_ok = row["status"] == enum_name(Status::ok);
    const Json measured = columns_of(record);
    for (const Column& column : catalog.columns) {
      const Json value = member(measured, column.name);
      if (!value.is_null() && (is_ok || !holds_measurements(column))) row[column.name] = value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headroom
