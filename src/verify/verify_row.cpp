// SPDX-License-Identifier: Apache-2.0
// Rules about what a row says: of which case it is, and that its figures are those of its record.
#include <cmath>

#include "src/results/record.h"
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
void expect(const CaseResult& one, const std::string& name, const Json& value,
            const std::string& whose, const Json& expected, Complaints& complaints) {
  if (value == expected) return;
  complaints.about(one, name + " is " + value.dump() + "; " + whose + " is " + expected.dump());
}

/// What the row is to say by its records; a column that nobody knows is the peak rank's.
Json expected_value(const CaseResult& one, const Column* column, const std::string& name) {
  const Json own = member(columns_of(one.record), name);
  return column == nullptr ? own : across_ranks(*column, own, one.rank_records);
}

/// A row of several ranks is that of the rank it names.
void check_peak_rank(const CaseResult& one, Complaints& complaints) {
  const auto rank = integer_in(one.row, "peak_rank");
  const auto ranks = static_cast<std::int64_t>(one.rank_records.size());
  if (ranks == 0) return;
  if (ranks != integer_in(one.row, "ranks")) {
    complaints.about(one, "there are records of " + std::to_string(ranks) + " ranks");
  }
  if (!has_figures(one)) return;
  if (!rank || *rank < 0 || *rank >= ranks ||
      one.rank_records[static_cast<std::size_t>(*rank)] != one.record) {
    complaints.about(one,
                     "the record is not that of peak_rank " + member(one.row, "peak_rank").dump());
  }
}

}  // namespace

void check_types(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    for (const auto& [name, value] : one.row.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (column == nullptr) continue;
      if (!has_type(value, column->type)) {
        complaints.about(one, name + " is " + value.dump() + "; allowed: " +
                                  (column->type == ColumnType::text ? "a " : "a finite ") +
                                  std::string(enum_name(column->type)));
      } else if (value.is_number() && value < 0 && is_never_below_zero(*column)) {
        complaints.about(one, name + " is below 0: " + value.dump());
      }
    }
  }
}

void check_identity(const VerifiedFolder& folder, Complaints& complaints) {
  const Json& header = folder.results.header;
  for (const CaseResult& one : folder.results.cases) {
    const auto expect_member = [&](const char* name, const Json& expected) {
      expect(one, name, member(one.row, name), "the journal's", expected, complaints);
    };
    const Json& ranks = member(one.work, "ranks");
    expect_member("suite", header["suite"]);
    expect_member("case", one.name);
    expect_member("kind", header["kind"]);
    expect_member("device", header["kind"] == "planned" ? Json("cuda") : header["device"]);
    expect_member("techniques", technique_names(member(one.work, "techniques")));
    expect_member("ranks", ranks.is_null() ? Json(1) : ranks);
    if (one.row.contains("libtorch")) expect_member("libtorch", header["libtorch"]);
    check_peak_rank(one, complaints);
  }
}

void check_case_fields(const VerifiedFolder& folder, Complaints& complaints) {
  for (const Column& column : folder.catalog.columns) {
    const std::string path(column.case_path());
    if (path.empty()) continue;
    for (const CaseResult& one : folder.results.cases) {
      const Json& value = member(one.row, column.name);
      if (value.is_null()) continue;
      expect(one, column.name, value, path + " of the case", member_at(one.work, path), complaints);
    }
  }
}

void check_record(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    if (!has_figures(one)) continue;
    Json names = member(one.record, "columns");
    if (!names.is_object()) {
      complaints.about(one, "the row has figures, and its record has none");
      continue;
    }
    for (const Column& column : folder.catalog.columns) {
      if (column.origin == kWorkerOrigin && one.row.contains(column.name))
        names[column.name] = nullptr;
    }
    for (const auto& [name, unused] : names.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (!is_measured(one) && (column == nullptr || column->is_real_only())) continue;
      expect(one, name, member(one.row, name), "the record's", expected_value(one, column, name),
             complaints);
    }
  }
}

void check_absent_figures(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    for (const auto& [name, value] : one.row.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (column == nullptr || !holds_figures(*column)) continue;
      if (!is_measured(one) && column->is_real_only()) {
        complaints.about(one, name + " is " + value.dump() + "; a plan has none");
      } else if (!has_figures(one) && (is_measured(one) || column->origin == kWorkerOrigin)) {
        complaints.about(one, name + " is " + value.dump() + "; a row that ended as " +
                                  text_in(one.row, "status") + " has none");
      }
    }
  }
}

}  // namespace headroom
