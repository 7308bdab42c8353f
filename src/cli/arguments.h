// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/results/machine.h"
#include "src/runner/dry_run.h"
#include "src/suite/catalog.h"
#include "src/suite/suite.h"

namespace CLI {
class App;
}

// The options that several subcommands have.
namespace headroom {

/// What the command line puts over the cases of a suite.
struct OverrideArguments {
  std::vector<std::string> set;  // "train.batch_size=4"
  std::string ranks;             // empty: not given

  void add_to(CLI::App& command);
  /// Throws ConfigError where one is not of the form K=V.
  std::vector<Override> overrides() const;
};

/// Which cases, and where their results go: of `run` and `plan`.
struct SuiteArguments {
  std::vector<std::string> suites;
  std::string only;
  std::string shard;  // "2/8"; empty: not given
  OverrideArguments overrides;
  std::string out;
  int repeat = 1;  // how often all is measured, each time by new processes: of `run`
  bool resume = false;
  bool snapshot = false;
  bool json = false;

  /// `folder`: below which folder results go where --out names none.
  void add_to(CLI::App& command, const std::string& folder);
};

/// For which GPU is planned: of `plan` and `fit`.
struct DryRunArguments {
  std::string gpu;     // empty: not given
  std::string memory;  // "16GiB"; empty: the GPU's own

  void add_to(CLI::App& command);
};

/// What old and new results may differ in: --vary of `compare`, `gate` and `nightly`.
struct VaryArguments {
  std::vector<std::string> names;

  void add_to(CLI::App& command);
  std::vector<Varied> varied() const;
};

/// `suite_gpu` is played where the arguments name no GPU; empty: none either, so the default.
/// Throws ConfigError for a GPU or an amount that makes no sense, Unsupported where this headroom
/// can't plan.
DryRun make_dry_run(const Catalog& catalog, const DryRunArguments& arguments,
                    const std::string& suite_gpu = "");

/// What a build without CUDA says of itself, where it is asked for what needs CUDA.
std::string why_no_cuda();

/// The dry run of the GPU that the driver calls `product`.
/// Throws Unsupported where the table of GPUs has none of that name, or this headroom can't plan.
DryRun dry_run_of_product(const Catalog& catalog, const std::string& product);

}  // namespace headroom
