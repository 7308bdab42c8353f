// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "src/cli/fit_suite.h"
#include "src/core/file.h"
#include "src/runner/dry_attempt.h"
#include "src/runner/fit_search.h"

namespace headroom {

/// Plans cases for the search with the real worker, and shows each plan as a line on standard
/// error. Throws NoAnswer with kInterrupted where the user interrupts.
class FitPlanRunner {
 public:
  /// What workers print goes to the file `log`, which is made anew.
  FitPlanRunner(const Catalog& catalog, const DryRun& dry_run, const std::filesystem::path& log);

  /// The case with few updates and memory without end. Where what is in use would fit and what the
  /// allocator keeps would not, the case with all its updates and the GPU's memory decides: the
  /// allocator gives cached memory back, and what is left is in pieces that may fail a later
  /// update.
  FitPlan plan(const FitSuite& suite, const FitStack& stack, FitSize size);

  /// The case as it will be written, with the GPU's memory. As `plan` estimates it: the bounds of
  /// reserved memory decide nothing here.
  FitPlan verify(const FitSuite& suite, const FitStack& stack, FitSize size);

  /// Why the case can't be built: its data set may not be of the kind that the model reads. Empty:
  /// it can. Throws Unsupported where no case can.
  std::string why_not_built(const Case& one);

  /// Of the GPU, or as asked for; known after the first plan.
  std::int64_t memory_bytes() const { return memory_bytes_; }

 private:
  struct WithoutEnd {
    FitPlan plan;
    bool could_fit;  // it does not, and would without what the allocator keeps
  };

  WithoutEnd plan_without_end(const Case& one, const FitStack& stack);
  FitPlan plan_limited(const Case& one);
  FitPlan planned(const Case& one, const DryAttempt& attempt) const;
  DryAttempt attempt(const Case& one, bool overcommit);
  WorkerRequest request(const Case& one) const;

  const Catalog& catalog_;
  DryRun dry_run_;
  std::string worker_;
  FileDescriptor log_;
  Interrupts interrupts_;
  std::int64_t memory_bytes_ = 0;
};

/// "batch 8", "batch 8 in 4 micro-batches".
std::string describe(FitSize size);

/// "fits, 5.26 GiB", "misses by 1.00 GiB", "unsupported: why".
std::string describe(const FitPlan& plan);

}  // namespace headroom
