// SPDX-License-Identifier: Apache-2.0
#include "src/results/row.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "src/core/csv.h"
#include "src/core/json.h"
#include "src/results/columns.h"
#include "src/suite/case.h"

namespace headroom {

using Json = nlohmann::ordered_json;

bool is_cell(const Json& value) { return value.is_string() || value.is_number(); }

std::optional<double> number_in(const Row& row, std::string_view column) {
  const auto value = row.find(column);
  const bool has_one = value != row.end() && value->is_number();
  return has_one ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::int64_t> integer_in(const Row& row, std::string_view column) {
  const Json& value = member(row, column);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::string text_in(const Row& row, std::string_view column) {
  const auto value = row.find(column);
  return value != row.end() && value->is_string() ? value->get<std::string>() : "";
}

std::optional<double> compared_figure(const Row& row, std::string_view column) {
  const auto own = number_in(row, column);
  const auto context = number_in(row, column::context_bytes);
  const auto published = number_in(row, column::published_context_bytes);
  if (!own || !context || !published || column != column::driver_peak_bytes) return own;
  return *own + (*published - *context);
}

std::optional<StepOfPublished> step_of_published(const Row& row) {
  const bool is_plan = text_in(row, column::kind) == "planned";
  auto own = number_in(row, is_plan ? column::step_time_estimate_ns : column::step_time_median_ns);
  // Of older plans only a lower bound is known.
  if (is_plan && !own) own = number_in(row, column::step_time_lower_bound_ns);
  const auto seconds = number_in(row, column::published_run_time_s);
  const auto updates = number_in(row, column::published_updates);
  if (!own || !seconds || !updates || *seconds <= 0 || *updates <= 0) return std::nullopt;
  return StepOfPublished{.published_ns = *seconds * 1e9 / *updates, .own_ns = *own};
}

Status status_of(const Row& row) {
  const std::string name = text_in(row, column::status);
  const auto names = enum_names<Status>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<Status>(i);
  }
  throw std::logic_error("a row has the status '" + name + "'");
}

std::int64_t ranks_of(const Row& row) { return integer_in(row, column::ranks).value_or(1); }

bool is_plain(const Row& row) { return is_plain(ranks_of(row), text_in(row, column::techniques)); }

bool is_plain(std::int64_t ranks, const std::string& techniques) {
  if (ranks > 1) return techniques == "ddp";
  return techniques == kNoTechniques || techniques.empty();  // as rows of before have it
}

std::string emulated_dtype(const Row& row) {
  constexpr std::array kDtypes = {std::pair{"bfloat16", column::cpu_bfloat16},
                                  std::pair{"float16", column::cpu_float16}};
  const std::string precision = text_in(row, column::precision);
  for (const auto& [dtype, products] : kDtypes) {
    const bool multiplies_in_it = precision == dtype || precision == std::string("mixed_") + dtype;
    if (multiplies_in_it && text_in(row, products) == "emulated") return dtype;
  }
  return "";
}

std::string cell_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string rows_to_csv(const Catalog& catalog, const std::vector<Row>& rows) {
  std::vector<std::string> cells;
  for (const Column& column : catalog.columns) cells.push_back(column.name);
  std::string text = csv_line(cells);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = row.find(catalog.columns[i].name);
      cells[i] = value == row.end() ? "" : cell_text(*value);
    }
    text += csv_line(cells);
  }
  return text;
}

const Json& columns_of(const Json& record) {
  static const Json none = Json::object();
  const auto columns = record.find("columns");
  return columns == record.end() ? none : *columns;
}

Json across_ranks(const Column& column, const Json& own, const std::vector<Json>& rank_records) {
  if (column.across_ranks == AcrossRanks::peak_rank) return own;
  const bool takes_largest = column.across_ranks == AcrossRanks::largest;
  Json result = own;
  for (const Json& record : rank_records) {
    const Json& value = member(columns_of(record), column.name);
    if (value.is_null()) continue;
    if (result.is_null() || (takes_largest ? result < value : value < result)) result = value;
  }
  return result;
}

}  // namespace headroom
