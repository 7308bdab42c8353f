// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "src/report/export.h"
#include "src/report/exported_case.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTime = "step_time_median_ns";

/// What all entries of one repeat share.
Json entry_of(const Repeats& one, std::size_t repeat, const std::string& name) {
  return {{"name", name},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", one.runs.size()},
          {"repetition_index", repeat},
          {"threads", 1}};
}

/// The tool wants both times, in a unit that it knows.
void put_time(Json& entry, const Json& value) {
  entry["real_time"] = value;
  entry["cpu_time"] = value;
  entry["time_unit"] = "ns";
}

void add_repeat(Json& benchmarks, const Repeats& one, std::size_t repeat) {
  const Row& row = one.runs[repeat]->row;
  std::optional<Json> timed;
  if (const auto time = row.find(kTime); time != row.end()) {
    timed = entry_of(one, repeat, path_of(one));
    (*timed)["iterations"] = row.value("step_time_samples", 1);
    put_time(*timed, *time);
  }
  Json of_bytes = Json::array();
  for (const Figure& figure : kFigures) {
    const auto value = row.find(figure.column);
    // 0 has no geometric mean, which the tool takes of all.
    if (figure.column == kTime || value == row.end() || *value == 0) continue;
    if (timed) (*timed)[figure.column] = *value;
    Json entry = entry_of(one, repeat, path_of(one) + "/" + figure.column);
    entry["iterations"] = 1;
    put_time(entry, *value);
    of_bytes.push_back(std::move(entry));
  }
  if (timed) benchmarks.push_back(std::move(*timed));
  for (Json& entry : of_bytes) benchmarks.push_back(std::move(entry));
}

/// Its name is that of no other entry: of equal names the tool wants times.
Json failed_entry(const Repeats& one) {
  return {{"name", path_of(one) + "_not_ok"}, {"run_name", path_of(one)},
          {"run_type", "aggregate"},          {"aggregate_name", "not_ok"},
          {"error_occurred", true},           {"error_message", ending_of(one)}};
}

}  // namespace

std::string google_benchmark_export(const std::vector<Results>& all) {
  Json benchmarks = Json::array();
  for (const Repeats& one : repeats_of(all)) {
    for (std::size_t i = 0; i < one.runs.size(); ++i) add_repeat(benchmarks, one, i);
    if (!is_ok(one)) benchmarks.push_back(failed_entry(one));
  }
  const Json context = {{"executable", "headroom"},
                        {"json_schema_version", 1},
                        {"cpu_time", "real_time again: it is not measured"},
                        {"COLUMN_bytes", "bytes in the fields of the times"}};
  return Json{{"context", context}, {"benchmarks", benchmarks}}.dump(2) + "\n";
}

}  // namespace headroom
