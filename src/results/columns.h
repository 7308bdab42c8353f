// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

// The schema of a row of results.csv: what both programs know of its columns. This header includes
// nothing of either, so that the worker may read it too.
namespace headroom {

enum class ColumnType { text, integer, number };

enum class ColumnGroup { identity, work, memory, cost, time, learning, compare, provenance };

/// What the row of a case of several ranks holds of the ranks' own values.
enum class AcrossRanks {
  peak_rank,  // that of the rank with the largest run_peak_allocated_bytes
  largest,
  smallest,
};

/// Who fills a column: one of these two, or kCaseOrigin and a field's path, which is copied from
/// the case ("case:train.batch_size").
inline constexpr std::string_view kWorkerOrigin = "worker";
inline constexpr std::string_view kRunnerOrigin = "runner";
inline constexpr std::string_view kCaseOrigin = "case:";

/// published_X holds what the suite says to compare column X with, but for kPublishedAlone.
inline constexpr std::string_view kPublishedPrefix = "published_";
/// planned_X holds what the own plan of a measured case has in column X.
inline constexpr std::string_view kPlannedPrefix = "planned_";
/// rule_X holds what a rule of thumb says of column X.
inline constexpr std::string_view kRulePrefix = "rule_";

/// Of published_X the X that are no column: what a source says of its run as a whole.
inline constexpr std::array<std::string_view, 2> kPublishedAlone = {"run_time_s", "updates"};

/// One column. A unit stands in its name.
struct ColumnEntry {
  std::string_view name;
  ColumnType type;
  ColumnGroup group;
  std::string_view summary;  // one line
  std::string_view origin;
  AcrossRanks across_ranks = AcrossRanks::peak_rank;
};

// All columns, in the order of the file: X(NAME, type, group, summary, origin[, across_ranks]).
// Each name is spelled here and nowhere else: column::NAME is the text of it. A name that is a
// keyword of C++ has a '_' behind it here (column::case_ is "case").
// clang-format off
#define HEADROOM_COLUMNS(X)                                                                       \
  X(suite, text, identity, "name of the suite", runner)                                           \
  X(case_, text, identity, "name of the case, unique in the suite", runner)                       \
  X(model, text, identity, "what is trained", "case:model.name")                                  \
  X(techniques, text, identity, "in the order of the suite, joined by +, or none", runner)        \
  X(kind, text, identity, "measured or planned", runner)                               \
  X(device, text, identity, "cpu or cuda", runner)                                                \
  X(device_name, text, identity, "the processor or GPU", worker)                                  \
  X(ranks, integer, identity, "processes that train together", runner)                            \
  X(peak_rank, integer, identity, "whose memory the row explains; empty: there is one", runner)   \
  X(status, text, identity, "how the case ended", runner)                                         \
  X(reason, text, identity, "why, where it did not end as ok", runner)                            \
                                                                                                  \
  X(batch_size, integer, work, "samples an update, on each rank", "case:train.batch_size")        \
  X(global_batch_size, integer, work, "samples an update, of all ranks", worker)                  \
  X(micro_batch_size, integer, work, "samples of one forward pass", worker)                       \
  X(sequence_length, integer, work, "tokens of a sample", "case:data.sequence_length")            \
  X(image_size, integer, work, "pixels of an image's side", "case:data.image_size")               \
  X(precision, text, work, "of weights, or mixed_ and that of products", worker)                  \
  X(allocator, text, work, "settings of CUDA's caching allocator, or default", worker)            \
  X(attention, text, work, "which kernel computes attention", "case:model.attention")             \
  X(optimizer, text, work, "after techniques changed it", worker)                                 \
  X(parameters, integer, work, "trainable numbers of the model", worker)                          \
  X(frozen_parameters, integer, work, "numbers of the model that are not trained", worker)        \
  X(steps, integer, work, "updates that were timed", "case:train.steps")                          \
  X(seed, integer, work, "of weights, data order and dropout", "case:train.seed")                 \
                                                                                                  \
  X(init_peak_allocated_bytes, integer, memory, "live tensors while building", worker, largest)   \
  X(steady_peak_allocated_bytes, integer, memory,                                                 \
    "live tensors in the timed steps", worker, largest)                                           \
  X(run_peak_allocated_bytes, integer, memory,                                                    \
    "live tensors over the whole run", worker, largest)                                           \
  X(init_peak_reserved_bytes, integer, memory,                                                    \
    "segments of the caching allocator while building (CUDA)", worker, largest)                   \
  X(steady_peak_reserved_bytes, integer, memory, "... in the timed steps", worker, largest)       \
  X(run_peak_reserved_bytes, integer, memory,                                                     \
    "... over the whole run, as published tables print it", worker, largest)                      \
  X(run_peak_reserved_lower_bytes, integer, memory,                                               \
    "of a plan: run_peak_reserved_bytes with a host that waits for the device", runner)           \
  X(run_peak_reserved_upper_bytes, integer, memory,                                               \
    "... with a host as far ahead of the device as it can be", runner)                            \
  X(driver_peak_bytes, integer, memory,                                                           \
    "the driver's figure at the end, context included, less what was used before (CUDA)",         \
    worker, largest)                                                                              \
  X(context_bytes, integer, memory,                                                               \
    "of a plan: what the CUDA context takes of driver_peak_bytes, by the table of GPUs", runner)  \
  X(nccl_bytes, integer, memory,                                                                  \
    "of a plan: what NCCL takes of driver_peak_bytes for itself", runner)                         \
  X(fits, text, memory, "of a plan: yes or no, by the driver's figure", runner)                   \
  X(missing_bytes, integer, memory,                                                               \
    "of a plan that does not fit: by how much, with memory without end", runner)                  \
  X(host_peak_bytes, integer, memory,                                                             \
    "resident memory of the process, libraries included (VmHWM)", worker, largest)                \
  X(pinned_peak_bytes, integer, memory,                                                           \
    "host memory that techniques moved tensors to", worker, largest)                              \
                                                                                                  \
  X(model_states_bytes, integer, memory,                                                          \
    "weights, gradients and optimizer state between backward and update", worker, largest)        \
                                                                                                  \
  X(peak_weights_bytes, integer, memory, "of run_peak_allocated_bytes: weights", worker)          \
  X(peak_gradients_bytes, integer, memory, "... gradients of parameters", worker)                 \
  X(peak_optimizer_state_bytes, integer, memory, "... optimizer state", worker)                   \
  X(peak_activations_bytes, integer, memory, "... saved for backward", worker)                    \
  X(peak_batch_bytes, integer, memory, "... inputs and labels", worker)                           \
  X(peak_communication_bytes, integer, memory, "... buffers of collectives", worker)              \
  X(peak_temporary_bytes, integer, memory, "... all else a step makes and drops", worker)         \
  X(peak_rounding_bytes, integer, memory, "... what the allocator rounds up", worker)             \
  X(peak_phase, text, memory, "where the peak was: phase of the step", worker)                    \
  X(peak_block, integer, memory, "... block of the model, from 0; empty: none", worker)           \
  X(peak_operator, text, memory, "... operator", worker)                                          \
                                                                                                  \
  X(flops_per_step, integer, cost,                                                                \
    "of products, convolutions and attention as run; recomputation counts", worker, largest)      \
  X(host_link_bytes_per_step, integer, cost,                                                      \
    "copied between device and host by techniques, both ways", worker, largest)                   \
  X(collective_bytes_per_step, integer, cost,                                                     \
    "that a rank has to send at least, for what was asked of the group", worker, largest)         \
  X(step_time_lower_bound_ns, integer, cost,                                                      \
    "of a plan: what these three take at the GPU's peak rates, the longest of them", runner)      \
  X(step_time_estimate_ns, integer, cost,                                                         \
    "of a plan: of an update, kernel by kernel at the rates that GPUs achieve", runner)           \
  X(step_time_estimate_lower_ns, integer, cost,                                                   \
    "... the shortest time that this lets expect", runner)                                        \
  X(step_time_estimate_upper_ns, integer, cost, "... the longest", runner)                        \
                                                                                                  \
  X(step_time_median_ns, integer, time, "of an update, loading included", worker, largest)        \
  X(step_time_mad_ns, integer, time, "median distance from that median", worker, largest)         \
  X(step_time_min_ns, integer, time, "the shortest of them", worker, largest)                     \
  X(step_time_samples, integer, time, "updates that were timed", worker)                          \
  X(data_wait_median_ns, integer, time,                                                           \
    "of an update: how long it waited for its batch", worker, largest)                            \
  X(samples_per_second, number, time, "global_batch_size / step_time_median_ns", worker,          \
    smallest)                                                                                     \
  X(mfu, number, time,                                                                            \
    "flops_per_step a second over what the best large product of this machine reaches",           \
    worker, smallest)                                                                             \
  X(other_load_percent, number, time,                                                             \
    "of the usable cores' time while steps were timed, spent by others", worker, largest)         \
  X(gpu_other_processes, integer, time,                                                           \
    "that computed on the GPU right before or after the timed steps (CUDA)", worker, largest)     \
  X(gpu_throttle_reasons, text, time,                                                             \
    "why its clocks were lowered then, joined by +, or none (CUDA)", worker)                      \
  X(gpu_clock_mhz, integer, time,                                                                 \
    "of its multiprocessors right after the timed steps (CUDA)", worker, smallest)                \
  X(gpu_temperature_c, integer, time, "of the GPU at that moment (CUDA)", worker, largest)        \
  X(gpu_utilisation_percent, number, time,                                                        \
    "of the timed steps' time, with a kernel at work, by NVML (CUDA)", worker, smallest)          \
                                                                                                  \
  X(first_loss, number, learning, "mean loss of the first batch", worker)                         \
  X(first_gradient_norm, number, learning,                                                        \
    "2-norm of all gradients of the first batch, unscaled and unclipped", worker)                 \
  X(last_loss, number, learning, "mean loss of the last batch", worker)                           \
  X(held_out_accuracy, number, learning, "share of held-out samples named right", worker)         \
                                                                                                  \
  X(published_init_peak_reserved_bytes, integer, compare, "from the suite", runner)               \
  X(published_run_peak_allocated_bytes, integer, compare, "from the suite", runner)               \
  X(published_run_peak_reserved_bytes, integer, compare, "from the suite", runner)                \
  X(published_driver_peak_bytes, integer, compare, "from the suite", runner)                      \
  X(published_model_states_bytes, integer, compare, "from the suite", runner)                     \
  X(published_context_bytes, integer, compare,                                                    \
    "from the suite: what the CUDA context took of published_driver_peak_bytes", runner)          \
  X(published_samples_per_second, number, compare, "from the suite", runner)                      \
  X(published_held_out_accuracy, number, compare, "from the suite", runner)                       \
  X(published_run_time_s, number, compare, "from the suite: of the whole training", runner)       \
  X(published_updates, integer, compare, "from the suite: of the weights, in that time", runner)  \
  X(init_peak_reserved_error_percent, number, compare,                                            \
    "this row's figure against the published one, signed", runner)                                \
  X(run_peak_allocated_error_percent, number, compare, "likewise", runner)                        \
  X(run_peak_reserved_error_percent, number, compare, "likewise", runner)                         \
  X(model_states_error_percent, number, compare, "likewise", runner)                              \
  X(driver_peak_error_percent, number, compare,                                                   \
    "likewise; of a plan, with the published context where the suite gives it", runner)           \
  X(step_time_of_published_percent, number, compare,                                              \
    "step_time_median_ns, of a plan step_time_estimate_ns, of the published time of an update",   \
    runner)                                                                                       \
  X(rule_model_states_bytes, integer, compare,                                                    \
    "by bytes a parameter: weights 4 or 6, gradients 4, state by the optimizer", runner)          \
  X(rule_driver_peak_bytes, integer, compare,                                                     \
    "16 bytes a parameter, activations and 2 GB", runner)                                         \
  X(planned_run_peak_allocated_bytes, integer, compare,                                           \
    "a measured case's own plan (run --with-plan)", runner)                                       \
  X(planned_run_peak_reserved_bytes, integer, compare, "likewise", runner)                        \
  X(planned_peak_weights_bytes, integer, compare, "likewise", runner)                             \
  X(planned_peak_gradients_bytes, integer, compare, "likewise", runner)                           \
  X(planned_peak_optimizer_state_bytes, integer, compare, "likewise", runner)                     \
  X(planned_peak_activations_bytes, integer, compare, "likewise", runner)                         \
  X(planned_peak_batch_bytes, integer, compare, "likewise", runner)                               \
  X(planned_peak_communication_bytes, integer, compare, "likewise", runner)                       \
  X(planned_peak_temporary_bytes, integer, compare, "likewise", runner)                           \
  X(planned_peak_rounding_bytes, integer, compare, "likewise", runner)                            \
                                                                                                  \
  X(commit, text, provenance, "of headroom; + where the tree had changes", runner)                \
  X(libtorch, text, provenance, "version of LibTorch", worker)                                    \
  X(cuda, text, provenance, "CUDA that LibTorch was built with", worker)                          \
  X(driver, text, provenance, "version of the CUDA driver", worker)                               \
  X(gpu_uuid, text, provenance, "of the GPU", worker)                                             \
  X(cpu_bfloat16, text, provenance, "its products in bfloat16: native or emulated (CPU)", worker) \
  X(cpu_float16, text, provenance, "likewise in float16", worker)                                 \
  X(cpu, text, provenance, "model of the processor", runner)                                      \
  X(started_at, text, provenance, "UTC, ISO 8601", runner)                                        \
  X(environment_hash, text, provenance,                                                           \
    "of all that a comparison needs to be equal: machine, libraries, settings", runner)
// clang-format on

namespace detail {

constexpr std::string_view column_name(std::string_view spelled) {
  return spelled.substr(0, spelled.size() - (spelled.ends_with('_') ? 1 : 0));
}

}  // namespace detail

/// The name of each column, as a constant: column::run_peak_allocated_bytes.
namespace column {

#define HEADROOM_COLUMN_NAME(NAME, ...) \
  inline constexpr std::string_view NAME = detail::column_name(#NAME);
HEADROOM_COLUMNS(HEADROOM_COLUMN_NAME)
#undef HEADROOM_COLUMN_NAME

}  // namespace column

namespace detail {

constexpr auto make_columns() {
  using enum ColumnType;
  using enum ColumnGroup;
  using enum AcrossRanks;
  constexpr std::string_view worker = kWorkerOrigin;
  constexpr std::string_view runner = kRunnerOrigin;
#define HEADROOM_COLUMN_ENTRY(NAME, ...) ColumnEntry{column::NAME, __VA_ARGS__},
  return std::to_array<ColumnEntry>({HEADROOM_COLUMNS(HEADROOM_COLUMN_ENTRY)});
#undef HEADROOM_COLUMN_ENTRY
}

}  // namespace detail

inline constexpr auto kColumns = detail::make_columns();

/// The entry of that name; null: there is none.
constexpr const ColumnEntry* find_column(std::string_view name) {
  const auto found = std::ranges::find(kColumns, name, &ColumnEntry::name);
  return found == kColumns.end() ? nullptr : &*found;
}

/// The category whose part of run_peak_allocated_bytes a column of that name holds; empty: it holds
/// none. It is the rule of the names, so that rows of other versions can be read by it too.
constexpr std::string_view peak_category_of(std::string_view name) {
  constexpr std::string_view kPrefix = "peak_";
  constexpr std::string_view kSuffix = "_bytes";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

/// Whether it is a column of a step's time, or of what was done in it: above 0, as a step takes
/// time.
constexpr bool takes_time(std::string_view name) {
  return name == column::step_time_median_ns || name == column::step_time_min_ns ||
         name == column::samples_per_second;
}

/// One part of run_peak_allocated_bytes.
struct PeakCategory {
  std::string_view name;    // as Category spells it
  std::string_view column;  // peak_NAME_bytes
};

namespace detail {

constexpr bool is_peak_category(const ColumnEntry& entry) {
  return !peak_category_of(entry.name).empty();
}

constexpr auto make_peak_categories() {
  constexpr auto kCount = std::ranges::count_if(kColumns, is_peak_category);
  std::array<PeakCategory, static_cast<std::size_t>(kCount)> categories;
  std::size_t count = 0;
  for (const ColumnEntry& entry : kColumns) {
    if (!is_peak_category(entry)) continue;
    categories[count++] = {peak_category_of(entry.name), entry.name};
  }
  return categories;
}

/// Names are unique, origins are known, and of texts none is the largest.
constexpr bool columns_are_sound() {
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const ColumnEntry& entry = kColumns[i];
    if (find_column(entry.name) != &entry || entry.summary.empty()) return false;
    if (entry.type == ColumnType::text && entry.across_ranks != AcrossRanks::peak_rank) {
      return false;
    }
    if (entry.origin != kWorkerOrigin && entry.origin != kRunnerOrigin &&
        !entry.origin.starts_with(kCaseOrigin)) {
      return false;
    }
    for (const std::string_view prefix : {kPublishedPrefix, kPlannedPrefix, kRulePrefix}) {
      if (!entry.name.starts_with(prefix)) continue;
      // Not find_column(): with sanitizers GCC calls no comparison with null constant.
      const std::string_view name = entry.name.substr(prefix.size());
      const bool alone =
          prefix == kPublishedPrefix && std::ranges::count(kPublishedAlone, name) == 1;
      if (alone == (std::ranges::count(kColumns, name, &ColumnEntry::name) == 1)) return false;
    }
  }
  return true;
}
static_assert(columns_are_sound());

}  // namespace detail

/// All parts of the peak, in the order of the columns. They sum to it.
inline constexpr auto kPeakCategories = detail::make_peak_categories();

}  // namespace headroom
