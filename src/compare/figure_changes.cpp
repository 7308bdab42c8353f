// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "src/compare/changes.h"
#include "src/core/json.h"
#include "src/results/columns.h"
#include "src/suite/catalog.h"

namespace headroom {
namespace {

using Values = std::vector<double>;

/// What decides whether a figure has changed.
enum class Measure { exact, planned, reserved, time, first_step, last_loss, accuracy };

struct ComparedFigure {
  std::string_view column;
  Measure measure;
};

constexpr ComparedFigure kComparedFigures[] = {
    {column::run_peak_allocated_bytes, Measure::exact},
    {column::steady_peak_allocated_bytes, Measure::exact},
    {column::init_peak_allocated_bytes, Measure::exact},
    {column::model_states_bytes, Measure::exact},
    {column::pinned_peak_bytes, Measure::exact},
    {column::run_peak_reserved_bytes, Measure::reserved},
    {column::run_peak_reserved_lower_bytes, Measure::exact},
    {column::run_peak_reserved_upper_bytes, Measure::exact},
    {column::driver_peak_bytes, Measure::planned},
    {column::missing_bytes, Measure::exact},
    {column::host_link_bytes_per_step, Measure::exact},
    {column::collective_bytes_per_step, Measure::exact},
    {column::flops_per_step, Measure::exact},
    {column::step_time_median_ns, Measure::time},
    {column::first_loss, Measure::first_step},
    {column::first_gradient_norm, Measure::first_step},
    {column::last_loss, Measure::last_loss},
    {column::held_out_accuracy, Measure::accuracy},
};

// The probability that one comparison calls a step's time changed that did not change.
constexpr double kMaxTimeP = 0.01;
constexpr double kIntervalP = 0.025;  // on each side
constexpr double kReordered = 1e-5;   // relative: float32 sums in another order
constexpr double kReordered16 = 1e-2;
constexpr double kOverSteps = 100;  // training moves what differs apart
constexpr double kStandardErrors = 3;

bool is_one_of(double value, const Values& values) {
  return std::ranges::find(values, value) != values.end();
}

/// Less is better.
Trend by_size(double old_value, double new_value) {
  return new_value > old_value ? Trend::worse : Trend::better;
}

void judge_exact(const Values& old_values, const Values& new_values, FigureChange& change) {
  const auto is_new = [&](double value) { return !is_one_of(value, old_values); };
  const auto found = std::ranges::find_if(new_values, is_new);
  if (found == new_values.end()) return;
  // Where it goes both ways, growth is what to tell.
  const double largest = std::ranges::max(new_values);
  change.new_value = is_new(largest) ? largest : *found;
  change.trend = by_size(std::ranges::max(old_values), change.new_value);
}

void judge_reserved(const Values& old_values, const Values& new_values, double allowed,
                    FigureChange& change) {
  const double old_largest = std::ranges::max(old_values);
  const double new_largest = std::ranges::max(new_values);
  change.old_value = old_largest;
  change.new_value = new_largest;
  if (std::abs(new_largest - old_largest) > allowed) {
    change.trend = by_size(old_largest, new_largest);
  }
}

void judge_time(const Values& old_values, const Values& new_values, double percent,
                FigureChange& change) {
  const double allowed = 1 + percent / 100;
  const double ratio = ratio_of(old_values, new_values);
  const Interval interval = ratio_interval(old_values, new_values, kIntervalP);
  change.ratio = ratio;
  change.interval = interval;
  const bool is_slower = mann_whitney_p(old_values, new_values) <= kMaxTimeP;
  const bool is_faster = mann_whitney_p(new_values, old_values) <= kMaxTimeP;
  if (is_slower && ratio > allowed) {
    change.trend = Trend::worse;
  } else if (is_faster && ratio < 1 / allowed) {
    change.trend = Trend::better;
  } else if (interval.lower < 1 / allowed || interval.upper > allowed) {
    change.trend = Trend::unclear;
    change.note =
        std::isinf(interval.upper)
            ? fmt::format("{} and {} processes are too few", old_values.size(), new_values.size())
            : fmt::format("the interval is wider than {} %", percent);
  }
}

/// A loss that moves is neither better nor worse at what it measures: it is another training.
void judge_learning(double tolerance, FigureChange& change) {
  const double scale = std::max(std::abs(change.old_value), std::numeric_limits<double>::min());
  if (std::abs(change.new_value - change.old_value) <= tolerance * scale) return;
  change.trend = Trend::worse;
  change.note = fmt::format("it may move by {} of itself", tolerance);
}

void judge_accuracy(double samples, FigureChange& change) {
  samples = std::max(samples, 1.0);
  const double p = std::clamp(change.old_value, 1 / (samples + 2), 1 - 1 / (samples + 2));
  const double allowed = kStandardErrors * std::sqrt(2 * p * (1 - p) / samples);
  if (std::abs(change.new_value - change.old_value) <= allowed) return;
  change.trend = change.new_value < change.old_value ? Trend::worse : Trend::better;
  change.note = fmt::format("it may move by {:.3f}, 3 standard errors", allowed);
}

void judge(const ComparedFigure& figure, const Repeats& new_case, const Values& old_values,
           const Values& new_values, FigureChange& change) {
  const CaseResult& run = *new_case.runs.front();
  const std::string precision = text_in(run.row, column::precision);
  const double reordered =
      precision.find("float16") == std::string::npos ? kReordered : kReordered16;
  switch (figure.measure) {
    case Measure::exact:
    case Measure::planned:
      return judge_exact(old_values, new_values, change);
    case Measure::reserved:
      if (new_case.kind == "planned") return judge_exact(old_values, new_values, change);
      return judge_reserved(old_values, new_values, run.limit(kGateReservedBytes), change);
    case Measure::time:
      return judge_time(old_values, new_values, run.limit(kGateTimePercent), change);
    case Measure::first_step:
      return judge_learning(reordered, change);
    case Measure::last_loss:
      return judge_learning(kOverSteps * reordered, change);
    case Measure::accuracy:
      return judge_accuracy(number_in(member(run.work, "train"), "held_out_samples").value_or(1),
                            change);
  }
}

}  // namespace

double FigureChange::percent() const {
  return old_value == new_value ? 0 : 100 * (new_value - old_value) / old_value;
}

std::vector<FigureChange> figure_changes(const Repeats& old_case, const Repeats& new_case) {
  std::vector<FigureChange> list;
  for (const ComparedFigure& figure : kComparedFigures) {
    const auto values_of = figure.measure == Measure::time ? &Repeats::times : &Repeats::values;
    const Values old_values = (old_case.*values_of)(figure.column);
    const Values new_values = (new_case.*values_of)(figure.column);
    if (old_values.empty() || new_values.empty()) continue;
    if (figure.measure == Measure::planned && new_case.kind != "planned") continue;
    FigureChange change{.column = std::string(figure.column),
                        .old_value = median(old_values),
                        .new_value = median(new_values)};
    judge(figure, new_case, old_values, new_values, change);
    list.push_back(std::move(change));
  }
  return list;
}

}  // namespace headroom
