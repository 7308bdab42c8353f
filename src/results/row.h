// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/enum_names.h"
#include "src/suite/catalog.h"

namespace headroom {

/// How a case ended.
enum class Status {
  ok,
  out_of_memory,
  unsupported,  // the machine or this build lacks something, or its techniques exclude each other
  inactive,     // a technique did nothing
  incorrect,    // it learned something else than it should
  timeout,
  crashed,
  failed,
};

/// That it does not fit, or can't run here, is a result; the others are failures.
inline bool is_failure(Status status) {
  return status != Status::ok && status != Status::out_of_memory && status != Status::unsupported;
}

/// A status and, for people, why; the reason of `ok` is mostly empty.
struct Verdict {
  Status status = Status::ok;
  std::string reason;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// One line of results.csv: an object of column name -> value, in the catalog's order. What was not
/// measured is not there.
using Row = nlohmann::ordered_json;

/// The most columns that a row is read with; this version has about a hundred.
inline constexpr std::size_t kMaxColumns = 1000;

/// Whether a row can hold it: a text or a number.
bool is_cell(const nlohmann::ordered_json& value);

/// A figure of a row; nothing where it has none.
std::optional<double> number_in(const Row& row, std::string_view column);

/// An integer of a row, or of another object; nothing where it has none.
std::optional<std::int64_t> integer_in(const Row& row, std::string_view column);

/// A text of a row; empty where it has none.
std::string text_in(const Row& row, std::string_view column);

/// A row's own figure as it stands beside the published one. In the driver's figure of a plan the
/// published context, where the suite gives it, takes the place of the table's.
std::optional<double> compared_figure(const Row& row, std::string_view column);

/// A row's step beside an update of the published run, in ns.
struct StepOfPublished {
  double published_ns = 0;  // the run's time by its updates: with all that it did beside them
  double own_ns = 0;        // the median that was measured; of a plan the estimate

  double percent() const { return 100.0 * own_ns / published_ns; }
};

/// Nothing where the suite gives no time and number of updates, or the row has no step.
std::optional<StepOfPublished> step_of_published(const Row& row);

/// The status that a row tells. Throws std::logic_error where it tells none.
Status status_of(const Row& row);

/// How many processes trained the case together.
std::int64_t ranks_of(const Row& row);

/// Whether a row is what others are compared with: no technique, or, as several ranks need one,
/// `ddp` alone.
bool is_plain(const Row& row);
bool is_plain(std::int64_t ranks, const std::string& techniques);

/// The 16-bit dtype of a case's products, where the CPU has no instructions for them, so that its
/// times are those of an emulation; empty: they are its own, or the row does not tell.
std::string emulated_dtype(const Row& row);

/// A value as a cell of the CSV shows it. Numbers do not depend on a locale.
std::string cell_text(const nlohmann::ordered_json& value);

/// results.csv: the header, and a line for each row.
std::string rows_to_csv(const Catalog& catalog, const std::vector<Row>& rows);

// What a row takes from the records of workers: the runner makes it so, and a verification expects
// it.

/// The columns of a worker's record; none where there is no record, or it holds none: a case that
/// went wrong early.
const nlohmann::ordered_json& columns_of(const nlohmann::ordered_json& record);

/// What the row of a case holds in a column, by the column's rule for ranks, where the record that
/// the row explains has `own`; null: nothing.
nlohmann::ordered_json across_ranks(const Column& column, const nlohmann::ordered_json& own,
                                    const std::vector<nlohmann::ordered_json>& rank_records);

}  // namespace headroom
