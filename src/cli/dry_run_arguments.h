// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/runner/dry_run.h"
#include "src/suite/catalog.h"

// For which GPU is planned.
namespace headroom {

struct DryRunArguments {
  std::string gpu;     // empty: not given
  std::string memory;  // "16GiB"; empty: the GPU's own

  void add_to(CLI::App& command);
};

/// `suite_gpu` is played where the arguments name no GPU; empty: none either, so the default.
/// Throws ConfigError for a GPU or an amount that makes no sense, Unsupported where this headroom
/// can't plan.
DryRun make_dry_run(const Catalog& catalog, const DryRunArguments& arguments,
                    const std::string& suite_gpu = "");

/// The dry run of the GPU that the driver calls `product`.
/// Throws Unsupported where the table of GPUs has none of that name, or this headroom can't plan.
DryRun dry_run_of_product(const Catalog& catalog, const std::string& product);

}  // namespace headroom
