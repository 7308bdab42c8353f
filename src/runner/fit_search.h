// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "src/results/row.h"
#include "src/runner/fit_stack.h"
#include "src/runner/step_time.h"

// The search of `headroom fit`: which stack, and how large a micro-batch. It knows nothing of how a
// case is planned.
namespace headroom {

/// How an update's batch is computed.
struct FitSize {
  std::int64_t batch_size = 1;
  std::int64_t micro_batches = 1;  // divides batch_size

  std::int64_t micro_batch() const { return batch_size / micro_batches; }
  friend auto operator<=>(const FitSize&, const FitSize&) = default;
};

/// What a plan says of a stack at a size.
struct FitPlan {
  Status status = Status::ok;          // ok: it fits; out_of_memory: it does not
  std::string reason;                  // of the other statuses
  std::int64_t driver_peak_bytes = 0;  // context included; also of what does not fit
  std::int64_t missing_bytes = 0;      // where it does not fit: by how much
  bool never_fits = false;  // what no size changes is too much alone: weights, gradients, state
  std::optional<StepTime> step_time;  // of an update of batch_size

  bool fits() const { return status == Status::ok; }
  bool was_planned() const { return fits() || status == Status::out_of_memory; }
};

/// "batch 8", "batch 8 in 4 micro-batches".
std::string describe(FitSize size);

/// "fits, 5.26 GiB", "misses by 1.00 GiB", "unsupported: why".
std::string describe(const FitPlan& plan);

/// Plans a stack at a size.
using FitPlanFunction = std::function<FitPlan(const FitStack&, FitSize)>;

struct FitQuestion {
  std::int64_t batch_size = 1;   // of an update; the answer keeps it
  std::int64_t max_samples = 1;  // that are planned at once, at least batch_size
};

/// A stack and a size that fit, as a suite writes them.
struct FitAnswer {
  std::size_t stack = 0;  // its index
  FitSize size;
  FitPlan plan;  // of the case as it is written
  /// The largest micro-batch that fits the stack: in one piece where the answer is, else with
  /// gradients that live through forward.
  std::int64_t largest_micro_batch = 1;
  /// What came of one sample more; nothing: max_samples was reached.
  std::optional<FitPlan> one_more;
};

/// One stack at the answer's size.
struct FitTrial {
  std::size_t stack = 0;
  FitSize size;
  FitPlan plan;
};

/// Plans stacks, cheapest first. Each plan is made once.
///
/// A stack is tried with the whole batch first. Where that does not fit, it is cut: two
/// micro-batches of n samples stand for all larger numbers of them, since from the second on each
/// meets the gradients of those before. That takes more than one batch of n, so the two are
/// searched apart.
class FitSearch {
 public:
  /// `plan` may make a case short; `verify` plans it as it will be written.
  FitSearch(const std::vector<FitStack>& stacks, FitQuestion question, FitPlanFunction plan,
            FitPlanFunction verify)
      : stacks_(stacks), question_(question), plan_(std::move(plan)), verify_(std::move(verify)) {}

  /// The first stack that fits, at the largest micro-batch that divides the batch. Nothing: none.
  std::optional<FitAnswer> find();

  /// All stacks with the answer's micro-batches; those that can't accumulate with the whole batch.
  std::vector<FitTrial> compare(const FitAnswer& answer);

  /// The plan so far that misses the memory by least. Nothing: none was planned.
  std::optional<FitTrial> nearest() const;

 private:
  std::optional<FitAnswer> find(std::size_t stack);
  std::optional<FitAnswer> find_whole(std::size_t stack);
  std::optional<FitAnswer> find_cut(std::size_t stack);
  std::optional<FitAnswer> verified(FitAnswer answer);
  const FitPlan& plan(std::size_t stack, FitSize size);

  const std::vector<FitStack>& stacks_;
  FitQuestion question_;
  FitPlanFunction plan_;
  FitPlanFunction verify_;
  std::map<std::tuple<std::size_t, FitSize>, FitPlan> done_;
};

/// The largest n from `first`, which fits, to `last` that fits, by doubling and bisection; where n
/// does not fit, no larger one may. Asks for the result's n + 1 as well, unless that is beyond
/// `last`.
std::int64_t largest_fitting(std::int64_t first, std::int64_t last,
                             const std::function<bool(std::int64_t)>& fits);

/// Which trials no other one beats: one that needs no more memory, time and host link, changes what
/// is computed no more, and is better in one of these. The link counts by its rank, because the
/// bound of time leaves out what the host does at its end. Of equals the first counts. Trials that
/// were not planned are beaten.
std::vector<bool> unbeaten(const std::vector<FitStack>& stacks,
                           const std::vector<FitTrial>& trials);

}  // namespace headroom
