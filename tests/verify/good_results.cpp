// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/good_results.h"

#include "src/core/checksum.h"
#include "src/results/row.h"

namespace headroom {
namespace {

constexpr const char* kSuite = R"(suite: "good"
defaults:
  ranks: 1
cases:
  - name: "plain"
    published: {"run_peak_allocated_bytes": 1100}
  - name: "stack"
    techniques: [{"gradient_accumulation": {"micro_batches": 2}}, "bfloat16"]
  - name: "ranks"
    ranks: 2
    techniques: ["ddp"]
  - name: "large"
)";

constexpr ColumnType kText = ColumnType::text;
constexpr ColumnType kInteger = ColumnType::integer;
constexpr ColumnType kNumber = ColumnType::number;
constexpr AcrossRanks kLargest = AcrossRanks::largest;

/// A column as the catalog has it, but for its summary.
struct GoodColumn {
  const char* name;
  ColumnType type;
  ColumnGroup group;
  const char* origin;
  AcrossRanks across_ranks = AcrossRanks::peak_rank;
};

constexpr GoodColumn kGoodColumns[] = {
    {"suite", kText, ColumnGroup::identity, "runner"},
    {"case", kText, ColumnGroup::identity, "runner"},
    {"model", kText, ColumnGroup::identity, "case:model.name"},
    {"techniques", kText, ColumnGroup::identity, "runner"},
    {"kind", kText, ColumnGroup::identity, "runner"},
    {"device", kText, ColumnGroup::identity, "runner"},
    {"device_name", kText, ColumnGroup::identity, "worker"},
    {"ranks", kInteger, ColumnGroup::identity, "runner"},
    {"peak_rank", kInteger, ColumnGroup::identity, "runner"},
    {"status", kText, ColumnGroup::identity, "runner"},
    {"reason", kText, ColumnGroup::identity, "runner"},
    {"batch_size", kInteger, ColumnGroup::work, "case:train.batch_size"},
    {"global_batch_size", kInteger, ColumnGroup::work, "worker"},
    {"parameters", kInteger, ColumnGroup::work, "worker"},
    {"frozen_parameters", kInteger, ColumnGroup::work, "worker"},
    {"steps", kInteger, ColumnGroup::work, "case:train.steps"},
    {"seed", kInteger, ColumnGroup::work, "case:train.seed"},
    {"init_peak_allocated_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"steady_peak_allocated_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"steady_peak_reserved_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"run_peak_allocated_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"run_peak_reserved_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"missing_bytes", kInteger, ColumnGroup::memory, "runner"},
    {"model_states_bytes", kInteger, ColumnGroup::memory, "worker", kLargest},
    {"peak_weights_bytes", kInteger, ColumnGroup::memory, "worker"},
    {"peak_temporary_bytes", kInteger, ColumnGroup::memory, "worker"},
    {"peak_rounding_bytes", kInteger, ColumnGroup::memory, "worker"},
    {"step_time_median_ns", kInteger, ColumnGroup::time, "worker", kLargest},
    {"step_time_mad_ns", kInteger, ColumnGroup::time, "worker", kLargest},
    {"step_time_min_ns", kInteger, ColumnGroup::time, "worker", kLargest},
    {"step_time_samples", kInteger, ColumnGroup::time, "worker"},
    {"data_wait_median_ns", kInteger, ColumnGroup::time, "worker", kLargest},
    {"samples_per_second", kNumber, ColumnGroup::time, "worker", AcrossRanks::smallest},
    {"other_load_percent", kNumber, ColumnGroup::time, "worker", kLargest},
    {"gpu_other_processes", kInteger, ColumnGroup::time, "worker", kLargest},
    {"gpu_throttle_reasons", kText, ColumnGroup::time, "worker"},
    {"first_loss", kNumber, ColumnGroup::learning, "worker"},
    {"last_loss", kNumber, ColumnGroup::learning, "worker"},
    {"published_run_peak_allocated_bytes", kInteger, ColumnGroup::compare, "runner"},
    {"commit", kText, ColumnGroup::provenance, "runner"},
    {"libtorch", kText, ColumnGroup::provenance, "worker"},
    {"gpu_uuid", kText, ColumnGroup::provenance, "worker"},
    {"started_at", kText, ColumnGroup::provenance, "runner"},
    {"environment_hash", kText, ColumnGroup::provenance, "runner"},
};

/// What a worker says; `more`: how much larger its peak is.
Json record_of(const std::string& device, std::int64_t more) {
  Json columns = {{"device_name", "a machine"},
                  {"parameters", 100},
                  {"frozen_parameters", 0},
                  {"init_peak_allocated_bytes", 400},
                  {"steady_peak_allocated_bytes", 900 + more},
                  {"run_peak_allocated_bytes", 1000 + more},
                  {"model_states_bytes", 800},
                  {"peak_weights_bytes", 400},
                  {"peak_temporary_bytes", 590 + more},
                  {"peak_rounding_bytes", 10},
                  {"step_time_median_ns", 50},
                  {"step_time_mad_ns", 10},
                  {"step_time_min_ns", 30},
                  {"step_time_samples", 5},
                  {"data_wait_median_ns", 4},
                  {"samples_per_second", 4 * 1e9 / 50},
                  {"other_load_percent", 1.5},
                  {"first_loss", 2.5},
                  {"last_loss", 0.5},
                  {"libtorch", "2.11.0"}};
  if (device == "cuda") {
    columns["gpu_other_processes"] = 0;
    columns["gpu_throttle_reasons"] = "sw_power_cap";
    columns["gpu_uuid"] = "GPU-1";
  }
  return {{"status", "ok"},
          {"reason", ""},
          {"columns", columns},
          {"step_time_ns", {30, 40, 50, 60, 900}},
          {"data_wait_ns", {9, 4, 0, 3, 7}},
          {"loss", {2.5, 2.0, 2.0, 1.5, 1.5, 1.0, 1.0, 0.5}},
          {"peak_tensors",
           {{2, 200, "weights", "build", nullptr, "aten::empty"},
            {1, 590 + more, "temporary", "forward", 0, "aten::add"}}},
          {"step_memory", Json::array()}};
}

Json work_of(int ranks, const Json& techniques) {
  return {{"ranks", ranks},
          {"model", {{"name", "vit"}}},
          {"data", {{"image_size", 32}}},
          {"train", {{"batch_size", 4}, {"steps", 5}, {"warmup_steps", 2}, {"seed", 1}}},
          {"techniques", techniques}};
}

/// What the runner says of a case.
Json row_of(const Json& header, const std::string& name, const std::string& techniques, int i) {
  return {{"suite", "good"},
          {"case", name},
          {"model", "vit"},
          {"techniques", techniques},
          {"kind", header["kind"]},
          {"device", header["kind"] == "planned" ? Json("cuda") : header["device"]},
          {"ranks", header["cases"][name]["ranks"]},
          {"status", "ok"},
          {"reason", ""},
          {"batch_size", 4},
          {"steps", 5},
          {"seed", 1},
          {"commit", "abc123"},
          {"started_at", "2026-08-30T10:00:0" + std::to_string(i) + "Z"},
          {"environment_hash", "e"}};
}

bool is_real_only(const std::string& name) {
  const Column* column = catalog_of_good_results().find_column(name);
  return column->is_real_only();
}

/// Adds a case that ended as ok.
void add(GoodResults& results, const std::string& name, const std::string& techniques,
         const std::string& device) {
  Json row = row_of(results.header, name, techniques, static_cast<int>(results.cases.size()));
  const Json record = record_of(device, name == "ranks" ? 50 : 0);
  for (const auto& [column, value] : record["columns"].items()) {
    const bool is_left_out = results.header["kind"] == "planned" && is_real_only(column);
    if (!is_left_out) row[column] = value;
  }
  results.cases.push_back({{"case", name},
                           {"gate", Json::object()},
                           {"environment", Json::object()},
                           {"row", row},
                           {"record", record}});
}

GoodResults make(const std::string& kind, const std::string& header_device,
                 const std::string& device) {
  const Json accumulation = {{"name", "gradient_accumulation"}, {"micro_batches", 2}};
  GoodResults results;
  results.suite_yaml = kSuite;
  results.header = {{"format", 2},
                    {"suite", "good"},
                    {"kind", kind},
                    {"device", header_device},
                    {"libtorch", "2.11.0"},
                    {"worker", "w"},
                    {"cases",
                     {{"plain", work_of(1, Json::array())},
                      {"stack", work_of(1, {accumulation, {{"name", "bfloat16"}}})},
                      {"ranks", work_of(2, {{{"name", "ddp"}}})},
                      {"large", work_of(1, Json::array())}}}};
  add(results, "plain", "", device);
  results.row(0)["published_run_peak_allocated_bytes"] = 1100;
  add(results, "stack", "gradient_accumulation+bfloat16", device);
  add(results, "ranks", "ddp", device);
  results.row(2)["peak_rank"] = 1;
  if (kind == "measured") {
    results.cases[2]["rank_records"] = {record_of(device, 0), results.record(2)};
    results.row(2)["samples_per_second"] = 8 * 1e9 / 50;
    for (Json& record : results.cases[2]["rank_records"]) {
      record["columns"]["samples_per_second"] = 8 * 1e9 / 50;
    }
    results.record(2) = results.cases[2]["rank_records"][1];
  } else {
    results.row(2)["peak_rank"] = 0;
  }
  return results;
}

}  // namespace

void GoodResults::set(std::size_t i, const std::string& column, const Json& value) {
  for (Json* object : {&row(i), &record(i)["columns"]}) {
    if (value.is_null()) {
      object->erase(column);
    } else {
      (*object)[column] = value;
    }
  }
}

std::string GoodResults::journal() const {
  std::string text = journal_line(header.dump());
  for (const Json& one : cases) text += journal_line(one.dump());
  return text;
}

std::string GoodResults::write(const TemporaryFolder& folder, const std::string& name) const {
  std::filesystem::create_directories(folder / name);
  std::vector<Row> rows;
  for (const Json& one : cases) rows.push_back(one["row"]);
  folder.write(name + "/journal.jsonl", journal());
  folder.write(name + "/results.csv", rows_to_csv(catalog_of_good_results(), rows));
  folder.write(name + "/suite.yaml", suite_yaml);
  return folder / name;
}

std::string journal_line(const std::string& json) {
  const std::string checksum = to_hex(crc32(json), 8);
  if (!json.starts_with('{')) return checksum + " " + json + "\n";  // as no version wrote it
  return R"({"crc32":")" + checksum + R"(",)" + json.substr(1) + "\n";
}

GoodResults good_results(const std::string& device) {
  GoodResults results = make("measured", device, device);
  Json row = row_of(results.header, "large", "", 3);
  row["status"] = "out_of_memory";
  row["reason"] = "there is no more";
  const Json record = {{"status", "out_of_memory"}, {"reason", "there is no more"}};
  results.cases.push_back({{"case", "large"},
                           {"gate", Json::object()},
                           {"environment", Json::object()},
                           {"row", row},
                           {"record", record}});
  return results;
}

GoodResults good_plan() {
  GoodResults results = make("planned", "h100", "cuda");
  add(results, "large", "", "cuda");
  results.row(3)["status"] = "out_of_memory";
  results.row(3)["missing_bytes"] = 7;
  return results;
}

const Catalog& catalog_of_good_results() {
  static const Catalog catalog = [] {
    Catalog made;
    for (const char* name : {"gradient_accumulation", "bfloat16", "ddp"}) {
      made.techniques.emplace_back().name = name;
    }
    for (const GoodColumn& column : kGoodColumns) {
      made.columns.push_back(
          {column.name, column.type, column.group, "", column.origin, column.across_ranks});
    }
    return made;
  }();
  return catalog;
}

Verification verify(const std::string& folder) {
  return verify_results({folder}, catalog_of_good_results());
}

GoodResults good_results_without_times() {
  GoodResults results = good_results("cuda");
  results.header["memory_only"] = true;
  const auto drop_columns = [](Json& columns) {
    for (const Column& column : catalog_of_good_results().columns) {
      if (column.group == ColumnGroup::time) columns.erase(column.name);
    }
  };
  const auto drop = [&](Json& record) {
    if (!record.contains("columns")) return;
    drop_columns(record["columns"]);
    record.erase("step_time_ns");
    record.erase("data_wait_ns");
  };
  for (std::size_t i = 0; i < results.cases.size(); ++i) {
    drop_columns(results.row(i));
    drop(results.record(i));
    if (!results.cases[i].contains("rank_records")) continue;
    for (Json& record : results.cases[i]["rank_records"]) drop(record);
  }
  return results;
}

}  // namespace headroom
