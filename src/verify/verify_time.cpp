// SPDX-License-Identifier: Apache-2.0
// Rules about time and learning: figures that follow from what was kept of each step.
#include <algorithm>
#include <cmath>

#include "src/results/columns.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Times = std::vector<std::int64_t>;

// With five samples the median stays where it is when two of them are disturbed, and the deviation
// still says something. The first step makes the optimizer's state and what libraries keep; it
// takes a second one that no longer does.
constexpr std::int64_t kMinSamples = 5;
constexpr std::int64_t kMinWarmupSteps = 2;
constexpr double kRoundingOfDoubles = 1e-9;  // relative

/// As the worker has it: of an even number the mean of the middle two, rounded down.
std::int64_t median(Times values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

std::int64_t deviation(const Times& values) {
  const std::int64_t middle = median(values);
  Times distances;
  for (const std::int64_t value : values) distances.push_back(std::abs(value - middle));
  return median(distances);
}

/// A list of times of a record; nothing where it is none, or one of them is below `least`.
std::optional<Times> times_of(const Json& record, const char* name, std::int64_t least) {
  const Json& list = member(record, name);
  if (!list.is_array() || list.empty()) return std::nullopt;
  Times times;
  for (const Json& time : list) {
    if (!time.is_number_integer() || time.get<std::int64_t>() < least) return std::nullopt;
    times.push_back(time.get<std::int64_t>());
  }
  return times;
}

/// Samples of an update, of all ranks.
std::optional<double> samples_of(const CaseResult& result, const Catalog& catalog) {
  const auto batch = integer_in(member(result.work, "train"), "batch_size");
  if (!batch) return std::nullopt;
  for (const Json& technique : member(result.work, "techniques")) {
    const TechniqueInfo* info = catalog.find_technique(text_in(technique, "name"));
    if (info == nullptr) return std::nullopt;
    if (info->replicates_batch) return static_cast<double>(*batch);
  }
  const auto ranks = integer_in(result.row, column::ranks).value_or(1);
  return static_cast<double>(*batch) * static_cast<double>(ranks);
}

void expect(const CaseResult& result, std::string_view column, std::int64_t expected,
            Findings& findings) {
  if (integer_in(result.row, column) == expected) return;
  findings.about(result, std::string(column) + " is " + member(result.row, column).dump() +
                             "; by the record's steps it is " + std::to_string(expected));
}

void check_rate(const CaseResult& result, const Catalog& catalog, std::int64_t step,
                Findings& findings) {
  const auto samples = samples_of(result, catalog);
  if (!samples) return;
  // Rows of earlier versions do not have it.
  const auto said = number_in(result.row, column::global_batch_size);
  if (said && *said != *samples) {
    findings.about(result, "global_batch_size is not that of its techniques and ranks");
  }
  const double rate = *samples * 1e9 / static_cast<double>(step);
  const auto found = number_in(result.row, column::samples_per_second);
  if (found && std::abs(*found - rate) <= kRoundingOfDoubles * rate) return;
  findings.about(result, "samples_per_second is " +
                             member(result.row, column::samples_per_second).dump() +
                             "; by step_time_median_ns it is " + Json(rate).dump());
}

/// Records of earlier versions have no waits for data, and no column of them.
void check_data_waits(const CaseResult& result, Findings& findings) {
  if (!integer_in(result.row, column::data_wait_median_ns)) return;
  std::int64_t longest = 0;
  for (const Json& record : records_of(result)) {
    const auto waits = times_of(record, "data_wait_ns", 0);
    if (!waits || std::ssize(*waits) != integer_in(result.row, column::step_time_samples)) {
      return findings.about(result, "the record has no wait for data of each timed step");
    }
    longest = std::max(longest, median(*waits));
  }
  expect(result, column::data_wait_median_ns, longest, findings);
}

void check_samples_of(const CaseResult& result, const Catalog& catalog, Findings& findings) {
  std::int64_t slowest = 0;
  std::int64_t widest = 0;
  std::int64_t shortest = 0;
  for (const Json& record : records_of(result)) {
    const auto times = times_of(record, "step_time_ns", 1);
    if (!times) return findings.about(result, "the record has no time of each timed step");
    slowest = std::max(slowest, median(*times));
    widest = std::max(widest, deviation(*times));
    shortest = std::max(shortest, *std::ranges::min_element(*times));
    const auto count = static_cast<std::int64_t>(times->size());
    expect(result, column::step_time_samples, count, findings);
    expect(result, column::steps, count, findings);
  }
  expect(result, column::step_time_median_ns, slowest, findings);
  expect(result, column::step_time_mad_ns, widest, findings);
  expect(result, column::step_time_min_ns, shortest, findings);
  check_rate(result, catalog, slowest, findings);
  check_data_waits(result, findings);
}

/// Steps of a case: those of the warm-up, one that counts, and those that are timed.
std::size_t steps_of(const CaseResult& result) {
  const auto of_train = [&](const char* field) {
    return static_cast<std::size_t>(integer_in(member(result.work, "train"), field).value_or(0));
  };
  const std::size_t timed = of_train("steps");
  return of_train("warmup_steps") + (timed > 0 ? 1 + timed : 0);
}

void check_losses_of(const CaseResult& result, const Json& record, Findings& findings) {
  const Json& losses = member(record, "loss");
  const auto is_finite = [](const Json& loss) {
    return loss.is_number() && std::isfinite(loss.get<double>());
  };
  if (!losses.is_array() || losses.size() != steps_of(result) ||
      !std::ranges::all_of(losses, is_finite)) {
    return findings.about(result, "the record has no finite loss of each of its " +
                                      std::to_string(steps_of(result)) + " steps");
  }
  if (losses.empty()) return;
  const Json& columns = member(record, "columns");
  if (member(columns, column::first_loss) != losses.front() ||
      member(columns, column::last_loss) != losses.back()) {
    findings.about(result, "first_loss and last_loss are not the first and last of the losses");
  }
}

}  // namespace

void check_samples(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (was_timed(folder, result)) check_samples_of(result, folder.catalog, findings);
  }
}

void check_losses(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!is_measured(result) || !has_figures(result)) continue;
    for (const Json& record : records_of(result)) check_losses_of(result, record, findings);
  }
}

void check_enough_samples(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!was_timed(folder, result)) continue;
    const auto samples = integer_in(result.row, column::step_time_samples).value_or(0);
    const auto warmup = integer_in(member(result.work, "train"), "warmup_steps").value_or(0);
    if (samples >= kMinSamples && warmup >= kMinWarmupSteps) continue;
    findings.about(result, std::to_string(samples) + " steps were timed after " +
                               std::to_string(warmup) + " others; at least " +
                               std::to_string(kMinSamples) + " after " +
                               std::to_string(kMinWarmupSteps) + " are to be");
  }
}

}  // namespace headroom
