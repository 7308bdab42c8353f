// SPDX-License-Identifier: Apache-2.0
// Rules about what a row says: of which case it is, and that its figures are those of its record.
#include <algorithm>
#include <cmath>

#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/results/row.h"
#include "src/suite/case.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

bool has_type(const Json& value, ColumnType type) {
  if (type == ColumnType::text) return value.is_string();
  if (type == ColumnType::integer) return value.is_number_integer();
  return value.is_number() && std::isfinite(value.get<double>());
}

bool holds_figures(const Column& column) {
  return column.group == ColumnGroup::memory || column.group == ColumnGroup::cost ||
         column.is_real_only();
}

/// Bytes, counts and times are not; a loss or a difference can be.
bool is_never_below_zero(const Column& column) {
  return column.group != ColumnGroup::learning && column.group != ColumnGroup::compare;
}

/// "x is 1; the case's is 2", where they are not the same.
void expect(const CaseResult& result, const std::string& name, const Json& value,
            const std::string& whose, const Json& expected, Findings& findings) {
  if (value == expected) return;
  findings.about(result, name + " is " + value.dump() + "; " + whose + " is " + expected.dump());
}

/// What the row is to say by its records; a column that nobody knows is the peak rank's.
Json expected_value(const CaseResult& result, const Column* column, const std::string& name) {
  const Json own = member(columns_of(result.record), name);
  return column == nullptr ? own : across_ranks(*column, own, result.rank_records);
}

/// A row of several ranks is that of the rank it names.
void check_peak_rank(const CaseResult& result, Findings& findings) {
  const auto rank = integer_in(result.row, column::peak_rank);
  const auto ranks = static_cast<std::int64_t>(result.rank_records.size());
  if (ranks == 0) return;
  if (ranks != integer_in(result.row, column::ranks)) {
    findings.about(result, "there are records of " + std::to_string(ranks) + " ranks");
  }
  if (!has_figures(result)) return;
  if (!rank || *rank < 0 || *rank >= ranks ||
      result.rank_records[static_cast<std::size_t>(*rank)] != result.record) {
    findings.about(result, "the record is not that of peak_rank " +
                               member(result.row, column::peak_rank).dump());
  }
}

}  // namespace

void check_types(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    for (const auto& [name, value] : result.row.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (column == nullptr) continue;
      if (!has_type(value, column->type)) {
        findings.about(result, name + " is " + value.dump() + "; allowed: " +
                                   (column->type == ColumnType::text ? "a " : "a finite ") +
                                   std::string(enum_name(column->type)));
      } else if (value.is_number() && value < 0 && is_never_below_zero(*column)) {
        findings.about(result, name + " is below 0: " + value.dump());
      }
    }
  }
}

void check_identity(const VerifiedFolder& folder, Findings& findings) {
  const Json& header = folder.results.header;
  for (const CaseResult& result : folder.results.cases) {
    const auto expect_member = [&](std::string_view name, const Json& expected) {
      expect(result, std::string(name), member(result.row, name), "the journal's", expected,
             findings);
    };
    const Json& ranks = member(result.work, "ranks");
    expect_member(column::suite, header["suite"]);
    expect_member(column::case_, result.name);
    expect_member(column::kind, header["kind"]);
    expect_member(column::device, header["kind"] == "planned" ? Json("cuda") : header["device"]);
    const std::string techniques = technique_names(member(result.work, "techniques"));
    const bool is_of_before =
        techniques == kNoTechniques && member(result.row, column::techniques) == "";
    if (!is_of_before) expect_member(column::techniques, techniques);
    expect_member(column::ranks, ranks.is_null() ? Json(1) : ranks);
    // A program brings its own.
    if (result.row.contains(column::libtorch) && !result.is_of_program())
      expect_member(column::libtorch, header["libtorch"]);
    check_peak_rank(result, findings);
  }
}

void check_case_fields(const VerifiedFolder& folder, Findings& findings) {
  for (const Column& column : folder.catalog.columns) {
    const std::string path(column.case_path());
    if (path.empty()) continue;
    for (const CaseResult& result : folder.results.cases) {
      const Json& value = member(result.row, column.name);
      if (value.is_null()) continue;
      expect(result, column.name, value, path + " of the case", member_at(result.work, path),
             findings);
    }
  }
}

void check_record(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!has_figures(result)) continue;
    Json names = member(result.record, "columns");
    if (!names.is_object()) {
      findings.about(result, "the row has figures, and its record has none");
      continue;
    }
    if (has_too_many_columns(result.record) ||
        std::ranges::any_of(result.rank_records, has_too_many_columns)) {
      findings.about(result, "a record has more than " + std::to_string(kMaxColumns) + " columns");
      continue;
    }
    for (const Column& column : folder.catalog.columns) {
      if (column.origin == kWorkerOrigin && result.row.contains(column.name))
        names[column.name] = nullptr;
    }
    for (const auto& [name, unused] : names.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (!is_measured(result) && (column == nullptr || column->is_real_only())) continue;
      expect(result, name, member(result.row, name), "the record's",
             expected_value(result, column, name), findings);
    }
  }
}

void check_absent_figures(const VerifiedFolder& folder, Findings& findings) {
  const bool has_times = !is_memory_only(folder.results.header);
  for (const CaseResult& result : folder.results.cases) {
    for (const auto& [name, value] : result.row.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (column == nullptr || !holds_figures(*column)) continue;
      if (!is_measured(result) && column->is_real_only()) {
        findings.about(result, name + " is " + value.dump() + "; a plan has none");
      } else if (!has_times && column->group == ColumnGroup::time) {
        findings.about(result, name + " is " + value.dump() + "; a memory_only suite has none");
      } else if (!has_figures(result) && (is_measured(result) || column->origin == kWorkerOrigin)) {
        findings.about(result, name + " is " + value.dump() + "; a row that ended as " +
                                   text_in(result.row, column::status) + " has none");
      }
    }
  }
}

}  // namespace headroom
