// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/suite/catalog.h"

namespace headroom {

/// The model that `inspect` and `forward` are about.
struct ModelArguments {
  std::string name;
  std::int64_t num_classes = 10;
  std::string attention = "eager";

  /// Adds MODEL, --num-classes and --attention to a command.
  void add_to(CLI::App& command);
  /// The request's "model". Throws ConfigError where the catalog has no such model or attention.
  nlohmann::ordered_json to_json(const Catalog& catalog) const;
};

}  // namespace headroom
