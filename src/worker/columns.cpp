// SPDX-License-Identifier: Apache-2.0
#include "src/worker/columns.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "src/core/enum_names.h"
#include "src/machine/hardware.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

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

std::optional<std::int64_t> median_step(const Measured& m) {
  return median(m.measurement.step_time_ns);
}

std::optional<std::int64_t> shortest_step(const Measured& m) {
  const auto& times = m.measurement.step_time_ns;
  if (times.empty()) return std::nullopt;
  return *std::ranges::min_element(times);
}

/// The median distance from the median.
std::optional<std::int64_t> step_deviation(const Measured& m) {
  const auto middle = median_step(m);
  if (!middle) return std::nullopt;
  std::vector<std::int64_t> distances;
  for (const std::int64_t time : m.measurement.step_time_ns) {
    distances.push_back(std::abs(time - *middle));
  }
  return median(distances);
}

Json samples_per_second(const Measured& m) {
  const auto step = median_step(m);
  if (!step) return {};
  const std::int64_t samples = m.recipe.train.batch_size * m.recipe.batch_share().ranks;
  return static_cast<double>(samples) * 1e9 / static_cast<double>(*step);
}

/// The product FLOPs that were run, recomputation included, against what this machine reaches.
Json utilisation(const Measured& m) {
  const auto step = median_step(m);
  if (!step || !m.measurement.ceiling_flops) return {};
  const double per_second =
      static_cast<double>(m.measurement.evidence.flops) * 1e9 / static_cast<double>(*step);
  return per_second / *m.measurement.ceiling_flops;
}

/// What the timed steps told; null where there were none.
Json timed(const Measured& m, std::int64_t value) {
  return m.recipe.train.steps == 0 ? Json() : Json(value);
}

/// What the machine was like while steps were timed; null where there were none.
template <class T>
Json while_timed(const Measured& m, const std::optional<T>& value) {
  return m.recipe.train.steps == 0 ? Json() : or_null(value);
}

/// Whoever is there before or after the timed steps may have been there during them.
Json other_processes(const Measured& m) {
  const auto before = m.measurement.gpu_before.other_processes;
  const auto after = m.measurement.gpu_after.other_processes;
  return while_timed(m, before && after ? std::max(before, after) : std::nullopt);
}

Json throttling(const Measured& m) {
  const auto before = m.measurement.gpu_before.throttle_bits;
  const auto after = m.measurement.gpu_after.throttle_bits;
  if (!before || !after) return {};
  return while_timed(m, std::optional(throttle_reasons(*before | *after)));
}

template <Category category>
Json at_peak(const Measured& m) {
  return m.measurement.peak.by_category[static_cast<std::size_t>(category)];
}

Json peak_block(const Measured& m) {
  const std::int64_t block = m.measurement.peak.where.block;
  return block == kNoBlock ? Json() : Json(block);
}

constexpr AcrossRanks kLargest = AcrossRanks::largest;
constexpr AcrossRanks kSmallest = AcrossRanks::smallest;

const std::array kColumns{
    Column{"suite", "text", "identity", "name of the suite", "runner"},
    Column{"case", "text", "identity", "name of the case, unique in the suite", "runner"},
    Column{"model", "text", "identity", "what is trained", "case:model.name"},
    Column{"techniques", "text", "identity", "in the order of the suite, joined by +", "runner"},
    Column{"kind", "text", "identity", "measured, planned or published", "runner"},
    Column{"device", "text", "identity", "cpu or cuda", "runner"},
    Column{"device_name", "text", "identity", "the processor or GPU", "worker",
           [](const Measured& m) -> Json { return device_name(m.recipe.device); }},
    Column{"ranks", "integer", "identity", "processes that train together", "runner"},
    Column{"peak_rank", "integer", "identity", "whose memory the row explains; empty: there is one",
           "runner"},
    Column{"status", "text", "identity", "how the case ended", "runner"},
    Column{"reason", "text", "identity", "why, where it did not end as ok", "runner"},

    Column{"batch_size", "integer", "work", "samples an update, on each rank",
           "case:train.batch_size"},
    Column{"micro_batch_size", "integer", "work", "samples of one forward pass", "worker",
           [](const Measured& m) -> Json { return m.recipe.micro_batch_size(); }},
    Column{"sequence_length", "integer", "work", "tokens of a sample", "case:data.sequence_length"},
    Column{"image_size", "integer", "work", "pixels of an image's side", "case:data.image_size"},
    Column{"precision", "text", "work", "of weights, or mixed_ and that of products", "worker",
           [](const Measured& m) -> Json { return m.recipe.precision_name(); }},
    Column{"attention", "text", "work", "which kernel computes attention", "case:model.attention"},
    Column{"optimizer", "text", "work", "after techniques changed it", "worker",
           [](const Measured& m) -> Json { return m.recipe.optimizer.name; }},
    Column{"parameters", "integer", "work", "trainable numbers of the model", "worker",
           [](const Measured& m) -> Json { return m.measurement.evidence.parameter_count; }},
    Column{"steps", "integer", "work", "updates that were timed", "case:train.steps"},
    Column{"seed", "integer", "work", "of weights, data order and dropout", "case:train.seed"},

    Column{"init_peak_allocated_bytes", "integer", "memory", "live tensors while building",
           "worker", [](const Measured& m) -> Json { return m.measurement.init.allocated_bytes; },
           kLargest},
    Column{"steady_peak_allocated_bytes", "integer", "memory", "live tensors in the timed steps",
           "worker",
           [](const Measured& m) { return timed(m, m.measurement.steady.allocated_bytes); },
           kLargest},
    Column{"run_peak_allocated_bytes", "integer", "memory", "live tensors over the whole run",
           "worker", [](const Measured& m) -> Json { return m.measurement.run.allocated_bytes; },
           kLargest},
    Column{"init_peak_reserved_bytes", "integer", "memory",
           "segments of the caching allocator while building (CUDA)", "worker",
           [](const Measured& m) { return or_null(m.measurement.init.reserved_bytes); }, kLargest},
    Column{"steady_peak_reserved_bytes", "integer", "memory", "... in the timed steps", "worker",
           [](const Measured& m) {
             return m.recipe.train.steps == 0 ? Json()
                                              : or_null(m.measurement.steady.reserved_bytes);
           },
           kLargest},
    Column{"run_peak_reserved_bytes", "integer", "memory",
           "... over the whole run, as published tables print it", "worker",
           [](const Measured& m) { return or_null(m.measurement.run.reserved_bytes); }, kLargest},
    Column{"run_peak_reserved_lower_bytes", "integer", "memory",
           "of a plan: run_peak_reserved_bytes with a host that waits for the device", "runner"},
    Column{"run_peak_reserved_upper_bytes", "integer", "memory",
           "... with a host as far ahead of the device as it can be", "runner"},
    Column{"driver_peak_bytes", "integer", "memory",
           "the driver's figure at the end, context included, less what was used before (CUDA)",
           "worker", [](const Measured& m) { return or_null(m.measurement.driver_bytes); },
           kLargest},
    Column{"context_bytes", "integer", "memory",
           "of a plan: what the CUDA context takes of driver_peak_bytes, by the table of GPUs",
           "runner"},
    Column{"fits", "text", "memory", "of a plan: yes or no, by the driver's figure", "runner"},
    Column{"missing_bytes", "integer", "memory",
           "of a plan that does not fit: by how much, with memory without end", "runner"},
    Column{"host_peak_bytes", "integer", "memory",
           "resident memory of the process, libraries included (VmHWM)", "worker",
           [](const Measured& m) { return or_null(m.measurement.host_peak_bytes); }, kLargest},
    Column{"pinned_peak_bytes", "integer", "memory", "host memory that techniques moved tensors to",
           "worker", [](const Measured& m) -> Json { return m.measurement.pinned_peak_bytes; },
           kLargest},

    Column{"model_states_bytes", "integer", "memory",
           "weights, gradients and optimizer state between backward and update", "worker",
           [](const Measured& m) { return timed(m, m.measurement.model_states_bytes); }, kLargest},

    Column{"peak_weights_bytes", "integer", "memory", "of run_peak_allocated_bytes: weights",
           "worker", &at_peak<Category::weights>},
    Column{"peak_gradients_bytes", "integer", "memory", "... gradients of parameters", "worker",
           &at_peak<Category::gradients>},
    Column{"peak_optimizer_state_bytes", "integer", "memory", "... optimizer state", "worker",
           &at_peak<Category::optimizer_state>},
    Column{"peak_activations_bytes", "integer", "memory", "... saved for backward", "worker",
           &at_peak<Category::activations>},
    Column{"peak_batch_bytes", "integer", "memory", "... inputs and labels", "worker",
           &at_peak<Category::batch>},
    Column{"peak_communication_bytes", "integer", "memory", "... buffers of collectives", "worker",
           &at_peak<Category::communication>},
    Column{"peak_temporary_bytes", "integer", "memory", "... all else a step makes and drops",
           "worker", &at_peak<Category::temporary>},
    Column{"peak_rounding_bytes", "integer", "memory", "... what the allocator rounds up", "worker",
           &at_peak<Category::rounding>},
    Column{"peak_phase", "text", "memory", "where the peak was: phase of the step", "worker",
           [](const Measured& m) -> Json { return enum_name(m.measurement.peak.where.phase); }},
    Column{"peak_block", "integer", "memory", "... block of the model, from 0; empty: none",
           "worker", &peak_block},
    Column{"peak_operator", "text", "memory", "... operator", "worker",
           [](const Measured& m) -> Json { return m.measurement.peak.where.op; }},

    Column{"flops_per_step", "integer", "cost",
           "of products, convolutions and attention as run; recomputation counts", "worker",
           [](const Measured& m) { return timed(m, m.measurement.evidence.flops); }, kLargest},
    Column{"host_link_bytes_per_step", "integer", "cost",
           "copied between device and host by techniques, both ways", "worker",
           [](const Measured& m) { return timed(m, m.measurement.copied_bytes_per_step); },
           kLargest},
    Column{"collective_bytes_per_step", "integer", "cost",
           "that a rank has to send at least, for what was asked of the group", "worker",
           [](const Measured& m) {
             const bool joins = m.recipe.joins_ranks;
             return joins ? timed(m, m.measurement.sent_bytes_per_step) : Json();
           },
           kLargest},
    Column{"step_time_lower_bound_ns", "integer", "cost",
           "of a plan: what these three take at the GPU's peak rates, the longest of them",
           "runner"},

    Column{"step_time_median_ns", "integer", "time", "of an update, loading included", "worker",
           [](const Measured& m) { return or_null(median_step(m)); }, kLargest},
    Column{"step_time_mad_ns", "integer", "time", "median distance from that median", "worker",
           [](const Measured& m) { return or_null(step_deviation(m)); }, kLargest},
    Column{"step_time_min_ns", "integer", "time", "the shortest of them", "worker",
           [](const Measured& m) { return or_null(shortest_step(m)); }, kLargest},
    Column{"step_time_samples", "integer", "time", "updates that were timed", "worker",
           [](const Measured& m) -> Json { return m.measurement.step_time_ns.size(); }},
    Column{"samples_per_second", "number", "time",
           "of all ranks: the samples of an update / step_time_median_ns", "worker",
           &samples_per_second, kSmallest},
    Column{"mfu", "number", "time",
           "flops_per_step a second over what the best large product of this machine reaches",
           "worker", &utilisation, kSmallest},
    Column{"other_load_percent", "number", "time",
           "of the usable cores' time while steps were timed, spent by others", "worker",
           [](const Measured& m) { return while_timed(m, m.measurement.other_load_percent); },
           kLargest},
    Column{"gpu_other_processes", "integer", "time",
           "that computed on the GPU right before or after the timed steps (CUDA)", "worker",
           &other_processes, kLargest},
    Column{"gpu_throttle_reasons", "text", "time",
           "why its clocks were lowered then, joined by +, or none (CUDA)", "worker", &throttling},
    Column{"gpu_clock_mhz", "integer", "time",
           "of its multiprocessors right after the timed steps (CUDA)", "worker",
           [](const Measured& m) { return while_timed(m, m.measurement.gpu_after.clock_mhz); },
           kSmallest},
    Column{"gpu_temperature_c", "integer", "time", "of the GPU at that moment (CUDA)", "worker",
           [](const Measured& m) { return while_timed(m, m.measurement.gpu_after.temperature_c); },
           kLargest},

    Column{"first_loss", "number", "learning", "mean loss of the first batch", "worker",
           [](const Measured& m) {
             return m.measurement.losses.empty() ? Json() : Json(m.measurement.losses.front());
           }},
    Column{"first_gradient_norm", "number", "learning",
           "2-norm of all gradients of the first batch, unscaled and unclipped", "worker",
           [](const Measured& m) { return or_null(m.measurement.first_gradient_norm); }},
    Column{"last_loss", "number", "learning", "mean loss of the last batch", "worker",
           [](const Measured& m) {
             return m.measurement.losses.empty() ? Json() : Json(m.measurement.losses.back());
           }},
    Column{"held_out_accuracy", "number", "learning", "share of held-out samples named right",
           "worker", [](const Measured& m) { return or_null(m.measurement.held_out_accuracy); }},

    Column{"published_init_peak_reserved_bytes", "integer", "compare", "from the suite", "runner"},
    Column{"published_run_peak_allocated_bytes", "integer", "compare", "from the suite", "runner"},
    Column{"published_run_peak_reserved_bytes", "integer", "compare", "from the suite", "runner"},
    Column{"published_driver_peak_bytes", "integer", "compare", "from the suite", "runner"},
    Column{"published_model_states_bytes", "integer", "compare", "from the suite", "runner"},
    Column{"published_context_bytes", "integer", "compare",
           "from the suite: what the CUDA context took of published_driver_peak_bytes", "runner"},
    Column{"published_samples_per_second", "number", "compare", "from the suite", "runner"},
    Column{"published_held_out_accuracy", "number", "compare", "from the suite", "runner"},
    Column{"init_peak_reserved_error_percent", "number", "compare",
           "this row's figure against the published one, signed", "runner"},
    Column{"run_peak_allocated_error_percent", "number", "compare", "likewise", "runner"},
    Column{"run_peak_reserved_error_percent", "number", "compare", "likewise", "runner"},
    Column{"model_states_error_percent", "number", "compare", "likewise", "runner"},
    Column{"driver_peak_error_percent", "number", "compare",
           "likewise; of a plan, with the published context where the suite gives it", "runner"},
    Column{"planned_run_peak_allocated_bytes", "integer", "compare",
           "a measured case's own plan (run --with-plan)", "runner"},
    Column{"planned_run_peak_reserved_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_weights_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_gradients_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_optimizer_state_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_activations_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_batch_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_communication_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_temporary_bytes", "integer", "compare", "likewise", "runner"},
    Column{"planned_peak_rounding_bytes", "integer", "compare", "likewise", "runner"},

    Column{"commit", "text", "provenance", "of headroom; + where the tree had changes", "runner"},
    Column{"libtorch", "text", "provenance", "version of LibTorch", "worker",
           [](const Measured&) -> Json { return libtorch_version(); }},
    Column{"cuda", "text", "provenance", "CUDA that LibTorch was built with", "worker",
           [](const Measured&) { return or_null(cuda_version()); }},
    Column{"driver", "text", "provenance", "version of the CUDA driver", "worker",
           [](const Measured& m) { return or_null(driver_version(m.recipe.device)); }},
    Column{"gpu_uuid", "text", "provenance", "of the GPU", "worker",
           [](const Measured& m) { return or_null(gpu_uuid(m.recipe.device)); }},
    Column{"cpu", "text", "provenance", "model of the processor", "runner"},
    Column{"started_at", "text", "provenance", "UTC, ISO 8601", "runner"},
    Column{"environment_hash", "text", "provenance",
           "of all that a comparison needs to be equal: machine, libraries, settings", "runner"},
};

}  // namespace

std::span<const Column> column_table() { return kColumns; }

}  // namespace headroom
