// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "src/core/file.h"
#include "src/runner/attempt.h"
#include "src/runner/fit_search.h"

namespace headroom {

/// The user interrupted a plan.
class PlanInterrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Makes the case with a stack at a size. `is_short`: with no more updates than memory needs to
/// become steady, and no evaluation.
using MakeFitCase = std::function<Case(const FitStack&, FitSize, bool is_short)>;

/// Plans cases for FitSearch with the real worker, run dry. Its functions throw PlanInterrupted
/// where the user interrupts, std::system_error where a worker can't be started.
class FitPlanner {
 public:
  /// `worker` is the program's path. What workers print goes to the file `log`, which is begun
  /// anew. `said` hears of each plan, as a line. Throws std::system_error where the log can't be
  /// made, ConfigError where there is a file of that name that is no log of a search.
  FitPlanner(const Catalog& catalog, const DryRun& dry_run, std::string worker,
             const std::filesystem::path& log, std::function<void(const std::string&)> said);

  /// Plans the case with few updates and memory without end. Where what is in use would fit and
  /// what the allocator keeps would not, the case with all its updates and the GPU's memory
  /// decides: the allocator gives cached memory back, and what is left is in pieces that may fail a
  /// later update.
  FitPlan plan(const MakeFitCase& make_case, const FitStack& stack, FitSize size);

  /// Plans the case as it will be written, with the GPU's memory. As `plan` estimates it: the
  /// bounds of reserved memory decide nothing here.
  FitPlan verify(const MakeFitCase& make_case, const FitStack& stack, FitSize size);

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
  DryAttempt attempt(const Case& one, bool overcommit);

  const Catalog& catalog_;
  DryRun dry_run_;
  std::string worker_;
  FileDescriptor log_;
  std::function<void(const std::string&)> said_;
  Interrupts interrupts_;
  std::int64_t memory_bytes_ = 0;
};

}  // namespace headroom
