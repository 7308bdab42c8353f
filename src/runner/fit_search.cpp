// SPDX-License-Identifier: Apache-2.0
#include "src/runner/fit_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "src/core/text.h"

namespace headroom {

std::string describe(FitSize size) {
  const std::string batch = "batch " + std::to_string(size.batch_size);
  if (size.micro_batches == 1) return batch;
  return batch + " in " + std::to_string(size.micro_batches) + " micro-batches";
}

std::string describe(const FitPlan& plan) {
  if (plan.fits()) return "fits, " + format_bytes(plan.driver_peak_bytes);
  if (plan.missing_bytes > 0) return "misses by " + format_bytes(plan.missing_bytes);
  return std::string(enum_name(plan.status)) + ": " + plan.reason;
}

std::int64_t largest_fitting(std::int64_t first, std::int64_t last,
                             const std::function<bool(std::int64_t)>& fits) {
  std::int64_t fitting = first;
  std::int64_t failing = last + 1;  // not known to fail, and not asked
  while (fitting < last) {
    const std::int64_t next = std::min(2 * fitting, last);
    if (!fits(next)) {
      failing = next;
      break;
    }
    fitting = next;
  }
  while (failing - fitting > 1) {
    const std::int64_t middle = fitting + (failing - fitting) / 2;
    (fits(middle) ? fitting : failing) = middle;
  }
  return fitting;
}

std::optional<FitAnswer> FitSearch::find() {
  for (std::size_t stack = 0; stack < stacks_.size(); ++stack) {
    if (auto answer = find(stack)) return answer;
  }
  return std::nullopt;
}

std::optional<FitAnswer> FitSearch::find(std::size_t stack) {
  const FitPlan whole = plan(stack, {question_.batch_size, 1});
  if (whole.fits()) {
    // Only the case as written can be what does not fit then: cutting it may still help.
    if (auto answer = find_whole(stack)) return answer;
  } else if (whole.status != Status::out_of_memory || whole.never_fits) {
    return std::nullopt;
  }
  return stacks_[stack].accumulates() ? find_cut(stack) : std::nullopt;
}

std::optional<FitAnswer> FitSearch::find_whole(std::size_t stack) {
  const std::int64_t most = std::max(question_.batch_size, question_.max_samples);
  const std::int64_t largest = largest_fitting(question_.batch_size, most, [&](std::int64_t n) {
    return plan(stack, {n, 1}).fits();
  });
  FitAnswer answer{.stack = stack,
                   .size = {question_.batch_size, 1},
                   .plan = {},
                   .largest_micro_batch = largest,
                   .one_more = {}};
  if (largest < most) answer.one_more = plan(stack, {largest + 1, 1});
  return verified(std::move(answer));
}

std::optional<FitAnswer> FitSearch::find_cut(std::size_t stack) {
  const std::int64_t batch = question_.batch_size;
  const auto cut = [](std::int64_t n) { return FitSize{2 * n, 2}; };
  const std::int64_t most = std::min(batch - 1, question_.max_samples / 2);
  if (most < 1 || !plan(stack, cut(1)).fits()) return std::nullopt;
  const std::int64_t largest =
      largest_fitting(1, most, [&](std::int64_t n) { return plan(stack, cut(n)).fits(); });
  FitAnswer answer{.stack = stack,
                   .size = {batch, 1},
                   .plan = {},
                   .largest_micro_batch = largest,
                   .one_more = {}};
  if (largest < most) {
    answer.one_more = plan(stack, cut(largest + 1));
  } else if (largest == batch - 1) {
    answer.one_more = plan(stack, {batch, 1});
  }
  for (std::int64_t count = 2; count <= batch; ++count) {
    if (batch % count != 0 || batch / count > largest) continue;
    answer.size.micro_batches = count;
    if (auto found = verified(answer)) return found;
  }
  return std::nullopt;
}

std::optional<FitAnswer> FitSearch::verified(FitAnswer answer) {
  answer.plan = verify_(stacks_[answer.stack], answer.size);
  return answer.plan.fits() ? std::optional(std::move(answer)) : std::nullopt;
}

const FitPlan& FitSearch::plan(std::size_t stack, FitSize size) {
  const auto key = std::tuple(stack, size);
  const auto known = done_.find(key);
  if (known != done_.end()) return known->second;
  return done_.emplace(key, plan_(stacks_[stack], size)).first->second;
}

std::vector<FitTrial> FitSearch::compare(const FitAnswer& answer) {
  std::vector<FitTrial> trials;
  for (std::size_t stack = 0; stack < stacks_.size(); ++stack) {
    const FitSize size =
        stacks_[stack].accumulates() ? answer.size : FitSize{answer.size.batch_size, 1};
    trials.push_back({stack, size, plan(stack, size)});
  }
  return trials;
}

std::optional<FitTrial> FitSearch::nearest() const {
  std::optional<FitTrial> nearest;
  for (const auto& [key, plan] : done_) {
    if (plan.status != Status::out_of_memory) continue;
    if (nearest && nearest->plan.missing_bytes <= plan.missing_bytes) continue;
    nearest = FitTrial{std::get<0>(key), std::get<1>(key), plan};
  }
  return nearest;
}

std::vector<bool> unbeaten(const std::vector<FitStack>& stacks,
                           const std::vector<FitTrial>& trials) {
  const auto figures = [&](const FitTrial& trial) {
    constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();
    const FitCost& cost = stacks[trial.stack].cost;
    const auto& time = trial.plan.step_time;
    return std::array<std::int64_t, 4>{trial.plan.driver_peak_bytes,
                                       time ? time->estimate_ns : kUnknown, cost.numerics,
                                       cost.host_link};
  };
  std::vector<bool> result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto beats = [&](std::size_t other) {
      if (other == i || !trials[other].plan.was_planned()) return false;
      const auto mine = figures(trials[i]);
      const auto theirs = figures(trials[other]);
      const bool no_worse =
          std::equal(theirs.begin(), theirs.end(), mine.begin(), std::less_equal());
      return no_worse && (other < i || theirs != mine);
    };
    bool is_beaten = !trials[i].plan.was_planned();
    for (std::size_t other = 0; other < trials.size() && !is_beaten; ++other) {
      is_beaten = beats(other);
    }
    result.push_back(!is_beaten);
  }
  return result;
}

}  // namespace headroom
