// SPDX-License-Identifier: Apache-2.0
// Rules about what a row says: of which case it is, and that its figures are those of its record.
#include <cmath>

#include "src/report/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kCaseOrigin = "case:";

bool has_type(const Json& value, ColumnType type) {
  if (type == ColumnType::text) return value.is_string();
  if (type == ColumnType::integer) return value.is_number_integer();
  return value.is_number() && std::isfinite(value.get<double>());
}

/// Whether a plan has no figure in the column, since nothing is computed and no time passes.
bool is_real_only(const Column* column) {
  return column != nullptr && (column->group == "time" || column->group == "learning");
}

bool holds_figures(const Column& column) {
  return column.group == "memory" || column.group == "cost" || is_real_only(&column);
}

/// Bytes, counts and times are not; a loss or a difference can be.
bool is_never_below_zero(const Column& column) {
  return column.group != "learning" && column.group != "compare";
}

/// "x is 1; the case's is 2", where they are not the same.
void expect(const CaseResult& one, const std::string& name, const Json& value,
            const std::string& whose, const Json& expected, Complaints& complaints) {
  if (value == expected) return;
  complaints.about(one, name + " is " + value.dump() + "; " + whose + " is " + expected.dump());
}

std::string technique_names(const Json& work) {
  std::string names;
  for (const Json& technique : member(work, "techniques")) {
    names += (names.empty() ? "" : "+") + text_in(technique, "name");
  }
  return names;
}

/// What the row is to say where the ranks' own values are these.
Json across_ranks(const CaseResult& one, const Column* column, const std::string& name) {
  Json result = member(member(one.record, "columns"), name);
  if (column == nullptr || column->across_ranks == AcrossRanks::peak_rank) return result;
  const bool takes_largest = column->across_ranks == AcrossRanks::largest;
  for (const Json& record : one.rank_records) {
    const Json& value = member(member(record, "columns"), name);
    if (value.is_null()) continue;
    if (result.is_null() || (takes_largest ? result < value : value < result)) result = value;
  }
  return result;
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
    expect_member("techniques", technique_names(one.work));
    expect_member("ranks", ranks.is_null() ? Json(1) : ranks);
    if (one.row.contains("libtorch")) expect_member("libtorch", header["libtorch"]);
    check_peak_rank(one, complaints);
  }
}

void check_case_fields(const VerifiedFolder& folder, Complaints& complaints) {
  for (const Column& column : folder.catalog.columns) {
    if (!column.origin.starts_with(kCaseOrigin)) continue;
    const std::string path = column.origin.substr(kCaseOrigin.size());
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
      if (column.origin == "worker" && one.row.contains(column.name)) names[column.name] = nullptr;
    }
    for (const auto& [name, unused] : names.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (!is_measured(one) && (column == nullptr || is_real_only(column))) continue;
      expect(one, name, member(one.row, name), "the record's", across_ranks(one, column, name),
             complaints);
    }
  }
}

void check_absent_figures(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    for (const auto& [name, value] : one.row.items()) {
      const Column* column = folder.catalog.find_column(name);
      if (column == nullptr || !holds_figures(*column)) continue;
      if (!is_measured(one) && is_real_only(column)) {
        complaints.about(one, name + " is " + value.dump() + "; a plan has none");
      } else if (!has_figures(one) && (is_measured(one) || column->origin == "worker")) {
        complaints.about(one, name + " is " + value.dump() + "; a row that ended as " +
                                  text_in(one.row, "status") + " has none");
      }
    }
  }
}

}  // namespace headroom
