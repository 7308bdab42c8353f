// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/suite/override.h"

namespace headroom {

/// What the command line puts over the cases of a suite.
struct OverrideArguments {
  std::vector<std::string> set;  // "train.batch_size=4"
  std::string ranks;             // empty: not given

  void add_to(CLI::App& command);
  /// Throws ConfigError where one is not of the form K=V.
  std::vector<Override> overrides() const;
};

}  // namespace headroom
