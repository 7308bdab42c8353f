// SPDX-License-Identifier: Apache-2.0
#include "src/worker/record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/enum_names.h"
#include "src/core/peak_entry.h"
#include "src/machine/hardware.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// What a worker knows when it fills a row.
struct ColumnSource {
  const Recipe& recipe;
  const Measurement& measurement;
};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::optional<std::int64_t> median(std::vector<std::int64_t> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<std::int64_t> median_step(const ColumnSource& m) {
  return median(m.measurement.step_time_ns);
}

std::optional<std::int64_t> shortest_step(const ColumnSource& m) {
  const auto& times = m.measurement.step_time_ns;
  if (times.empty()) return std::nullopt;
  return *std::ranges::min_element(times);
}

/// The median distance from the median.
std::optional<std::int64_t> step_deviation(const ColumnSource& m) {
  const auto middle = median_step(m);
  if (!middle) return std::nullopt;
  std::vector<std::int64_t> distances;
  for (const std::int64_t time : m.measurement.step_time_ns) {
    distances.push_back(std::abs(time - *middle));
  }
  return median(distances);
}

std::int64_t global_batch_size(const ColumnSource& m) {
  return m.recipe.train.batch_size * m.recipe.batch_share().ranks;
}

Json samples_per_second(const ColumnSource& m) {
  const auto step = median_step(m);
  if (!step) return {};
  return static_cast<double>(global_batch_size(m)) * 1e9 / static_cast<double>(*step);
}

/// The product FLOPs that were run, recomputation included, against what this machine reaches.
Json utilisation(const ColumnSource& m) {
  const auto step = median_step(m);
  if (!step || !m.measurement.ceiling_flops) return {};
  const double per_second =
      static_cast<double>(m.measurement.evidence.flops) * 1e9 / static_cast<double>(*step);
  return per_second / *m.measurement.ceiling_flops;
}

/// What the timed steps told; null where there were none.
Json timed(const ColumnSource& m, std::int64_t value) {
  return m.recipe.train.steps == 0 ? Json() : Json(value);
}

/// What the machine was like while steps were timed; null where there were none.
template <class T>
Json while_timed(const ColumnSource& m, const std::optional<T>& value) {
  return m.recipe.train.steps == 0 ? Json() : or_null(value);
}

/// Whoever is there before or after the timed steps may have been there during them.
Json other_processes(const ColumnSource& m) {
  const auto before = m.measurement.gpu_before.other_processes;
  const auto after = m.measurement.gpu_after.other_processes;
  return while_timed(m, before && after ? std::max(before, after) : std::nullopt);
}

Json throttling(const ColumnSource& m) {
  const auto before = m.measurement.gpu_before.throttle_bits;
  const auto after = m.measurement.gpu_after.throttle_bits;
  if (!before || !after) return {};
  return while_timed(m, std::optional(throttle_reasons(*before | *after)));
}

template <std::size_t category>
Json at_peak(const ColumnSource& m) {
  static_assert(category < enum_names<Category>().size());
  return m.measurement.peak.by_category[category];
}

Json peak_block(const ColumnSource& m) {
  const std::int64_t block = m.measurement.peak.where.block;
  return block == kNoBlock ? Json() : Json(block);
}

/// A column's value; null where it was not measured.
struct ColumnValue {
  std::string_view column;
  Json (*value)(const ColumnSource&);
};

constexpr std::array kValues{
    ColumnValue{column::device_name,
                [](const ColumnSource& m) -> Json { return device_name(m.recipe.device); }},
    ColumnValue{column::global_batch_size,
                [](const ColumnSource& m) -> Json { return global_batch_size(m); }},
    ColumnValue{column::micro_batch_size,
                [](const ColumnSource& m) -> Json { return m.recipe.micro_batch_size(); }},
    ColumnValue{column::allocator,
                [](const ColumnSource& m) -> Json {
                  const std::string settings = m.recipe.allocator.text();
                  return settings.empty() ? "default" : settings;
                }},
    ColumnValue{column::precision,
                [](const ColumnSource& m) -> Json { return m.recipe.precision_name(); }},
    ColumnValue{column::optimizer,
                [](const ColumnSource& m) -> Json { return m.recipe.optimizer.name; }},
    ColumnValue{
        column::parameters,
        [](const ColumnSource& m) -> Json { return m.measurement.evidence.parameter_count; }},
    ColumnValue{column::frozen_parameters,
                [](const ColumnSource& m) -> Json { return m.measurement.evidence.frozen_count; }},
    ColumnValue{column::init_peak_allocated_bytes,
                [](const ColumnSource& m) -> Json { return m.measurement.init.allocated_bytes; }},
    ColumnValue{
        column::steady_peak_allocated_bytes,
        [](const ColumnSource& m) { return timed(m, m.measurement.steady.allocated_bytes); }},
    ColumnValue{column::run_peak_allocated_bytes,
                [](const ColumnSource& m) -> Json { return m.measurement.run.allocated_bytes; }},
    ColumnValue{column::init_peak_reserved_bytes,
                [](const ColumnSource& m) { return or_null(m.measurement.init.reserved_bytes); }},
    ColumnValue{column::steady_peak_reserved_bytes,
                [](const ColumnSource& m) {
                  return m.recipe.train.steps == 0 ? Json()
                                                   : or_null(m.measurement.steady.reserved_bytes);
                }},
    ColumnValue{column::run_peak_reserved_bytes,
                [](const ColumnSource& m) { return or_null(m.measurement.run.reserved_bytes); }},
    ColumnValue{column::driver_peak_bytes,
                [](const ColumnSource& m) { return or_null(m.measurement.driver_bytes); }},
    ColumnValue{column::host_peak_bytes,
                [](const ColumnSource& m) { return or_null(m.measurement.host_peak_bytes); }},
    ColumnValue{column::pinned_peak_bytes,
                [](const ColumnSource& m) -> Json { return m.measurement.pinned_peak_bytes; }},
    ColumnValue{column::model_states_bytes,
                [](const ColumnSource& m) { return timed(m, m.measurement.model_states_bytes); }},
    ColumnValue{
        column::peak_phase,
        [](const ColumnSource& m) -> Json { return enum_name(m.measurement.peak.where.phase); }},
    ColumnValue{column::peak_block, &peak_block},
    ColumnValue{column::peak_operator,
                [](const ColumnSource& m) -> Json { return m.measurement.peak.where.op; }},
    ColumnValue{column::flops_per_step,
                [](const ColumnSource& m) { return timed(m, m.measurement.evidence.flops); }},
    ColumnValue{
        column::host_link_bytes_per_step,
        [](const ColumnSource& m) { return timed(m, m.measurement.copied_bytes_per_step); }},
    ColumnValue{column::collective_bytes_per_step,
                [](const ColumnSource& m) {
                  const bool joins = m.recipe.joins_ranks;
                  return joins ? timed(m, m.measurement.sent_bytes_per_step) : Json();
                }},
    ColumnValue{column::step_time_median_ns,
                [](const ColumnSource& m) { return or_null(median_step(m)); }},
    ColumnValue{column::step_time_mad_ns,
                [](const ColumnSource& m) { return or_null(step_deviation(m)); }},
    ColumnValue{column::step_time_min_ns,
                [](const ColumnSource& m) { return or_null(shortest_step(m)); }},
    ColumnValue{column::step_time_samples,
                [](const ColumnSource& m) -> Json { return m.measurement.step_time_ns.size(); }},
    ColumnValue{column::data_wait_median_ns,
                [](const ColumnSource& m) { return or_null(median(m.measurement.data_wait_ns)); }},
    ColumnValue{column::samples_per_second, &samples_per_second},
    ColumnValue{column::mfu, &utilisation},
    ColumnValue{
        column::other_load_percent,
        [](const ColumnSource& m) { return while_timed(m, m.measurement.other_load_percent); }},
    ColumnValue{column::gpu_other_processes, &other_processes},
    ColumnValue{column::gpu_throttle_reasons, &throttling},
    ColumnValue{
        column::gpu_clock_mhz,
        [](const ColumnSource& m) { return while_timed(m, m.measurement.gpu_after.clock_mhz); }},
    ColumnValue{column::gpu_temperature_c,
                [](const ColumnSource& m) {
                  return while_timed(m, m.measurement.gpu_after.temperature_c);
                }},
    ColumnValue{column::gpu_utilisation_percent,
                [](const ColumnSource& m) {
                  return while_timed(m, m.measurement.gpu_utilisation_percent);
                }},
    ColumnValue{column::first_loss,
                [](const ColumnSource& m) {
                  return m.measurement.losses.empty() ? Json() : Json(m.measurement.losses.front());
                }},
    ColumnValue{column::first_gradient_norm,
                [](const ColumnSource& m) { return or_null(m.measurement.first_gradient_norm); }},
    ColumnValue{column::last_loss,
                [](const ColumnSource& m) {
                  return m.measurement.losses.empty() ? Json() : Json(m.measurement.losses.back());
                }},
    ColumnValue{column::held_out_accuracy,
                [](const ColumnSource& m) { return or_null(m.measurement.held_out_accuracy); }},
    ColumnValue{column::libtorch, [](const ColumnSource&) -> Json { return libtorch_version(); }},
    ColumnValue{column::cuda, [](const ColumnSource&) { return or_null(cuda_version()); }},
    ColumnValue{column::driver,
                [](const ColumnSource& m) { return or_null(driver_version(m.recipe.device)); }},
    ColumnValue{column::gpu_uuid,
                [](const ColumnSource& m) { return or_null(gpu_uuid(m.recipe.device)); }},
    ColumnValue{
        column::cpu_bfloat16,
        [](const ColumnSource& m) { return or_null(cpu_products(m.recipe.device, "bfloat16")); }},
    ColumnValue{
        column::cpu_float16,
        [](const ColumnSource& m) { return or_null(cpu_products(m.recipe.device, "float16")); }},
};

/// The position of a category in the sums of a peak.
constexpr std::size_t index_of_category(std::string_view name) {
  const auto names = enum_names<Category>();
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

template <std::size_t... i>
constexpr auto make_peak_values(std::index_sequence<i...>) {
  return std::array{ColumnValue{kPeakCategories[i].column,
                                &at_peak<index_of_category(kPeakCategories[i].name)>}...};
}

constexpr auto kPeakValues = make_peak_values(std::make_index_sequence<kPeakCategories.size()>{});

constexpr auto value_of(std::string_view column) -> decltype(ColumnValue::value) {
  for (const ColumnValue& entry : kValues) {
    if (entry.column == column) return entry.value;
  }
  for (const ColumnValue& entry : kPeakValues) {
    if (entry.column == column) return entry.value;
  }
  return nullptr;
}

constexpr bool is_worker_column(const ColumnEntry& column) {
  return column.origin == kWorkerOrigin;
}

/// Not value_of(): with sanitizers GCC calls no comparison with null constant.
constexpr auto count_values(const ColumnEntry& column) {
  return std::ranges::count(kValues, column.name, &ColumnValue::column) +
         std::ranges::count(kPeakValues, column.name, &ColumnValue::column);
}

static_assert(kPeakCategories.size() == enum_names<Category>().size());
static_assert(std::ranges::all_of(kColumns,
                                  [](const ColumnEntry& column) {
                                    return count_values(column) ==
                                           (is_worker_column(column) ? 1 : 0);
                                  }),
              "each column of the worker has one value here, and no other has one");
static_assert(kValues.size() + kPeakValues.size() ==
                  static_cast<std::size_t>(std::ranges::count_if(kColumns, is_worker_column)),
              "each value here is one of a column");

}  // namespace

Json worker_columns(const Recipe& recipe, const Measurement& measurement) {
  Json columns = Json::object();
  for (const ColumnEntry& column : kColumns) {
    if (!is_worker_column(column)) continue;
    Json value = value_of(column.name)({recipe, measurement});
    if (!value.is_null()) columns[std::string(column.name)] = std::move(value);
  }
  return columns;
}

namespace {

using Json = nlohmann::ordered_json;

struct Judgement {
  std::string status = "ok";
  std::string reason;
};

Judgement judge(const WorkerCase& measured, const Measurement& measurement) {
  const std::int64_t remainder = measurement.run.allocated_bytes - measurement.peak.bytes;
  if (remainder != 0) {
    return {"failed", "the allocator's peak is " + std::to_string(measurement.run.allocated_bytes) +
                          " bytes, the ledger's categories sum to " +
                          std::to_string(measurement.peak.bytes)};
  }
  if (!measurement.why_not_saved.empty()) {
    return {"failed", "its weights could not be saved: " + measurement.why_not_saved};
  }
  for (const auto& technique : measured.techniques) {
    const std::string why = technique->why_inactive(measurement.evidence, measured.recipe);
    if (!why.empty()) return {"inactive", why};
  }
  return {};
}

Json block_of(std::int64_t block) { return block == kNoBlock ? Json() : Json(block); }

Json peak_tensors(const PeakReport& peak) {
  Json list = Json::array();
  for (const PeakTensors& alike : peak.tensors) {
    const Position& origin = alike.origin;
    const PeakEntry entry{
        .count = alike.count,
        .bytes = alike.bytes,
        .category = std::string(enum_name(alike.category)),
        .phase = std::string(enum_name(origin.phase)),
        .block = origin.block == kNoBlock ? std::nullopt : std::optional(origin.block),
        .op = std::string(origin.op)};
    list.push_back(entry.to_json());
    if (list.size() == kMaxPeakEntries) break;
  }
  return list;
}

Json step_memory(const std::vector<PlaceMemory>& course) {
  Json list = Json::array();
  for (const PlaceMemory& place : course) {
    list.push_back({enum_name(place.phase), block_of(place.block), place.bytes});
  }
  return list;
}

}  // namespace

Json make_record(const WorkerCase& measured, const Measurement& measurement) {
  const Judgement verdict = judge(measured, measurement);
  Json record{{"status", verdict.status},
              {"reason", verdict.reason},
              {"columns", worker_columns(measured.recipe, measurement)},
              {"step_time_ns", measurement.step_time_ns},
              {"data_wait_ns", measurement.data_wait_ns},
              {"loss", measurement.losses},
              {"peak_tensors", peak_tensors(measurement.peak)},
              {"step_memory", step_memory(measurement.step_memory)}};
  if (measurement.device_memory_bytes) {
    record["device_memory_bytes"] = *measurement.device_memory_bytes;
  }
  return record;
}

Json make_failure(std::string_view status, std::string_view reason) {
  return {{"status", status}, {"reason", reason}};
}

}  // namespace headroom
