// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/core/fields.h"
#include "src/worker/trainer.h"
#include "techniques/recipe.h"

namespace headroom {

/// How long and how large a case may become.
struct Limits {
  std::int64_t case_s = 3600;     // seconds for the whole case; kept by the runner
  std::int64_t silence_s = 600;   // seconds without a word of the worker; kept by the runner
  std::int64_t memory_bytes = 0;  // the most it may take on its device; 0: all there is

  void fields(Fields& f);
};

/// One case, read and edited: all that a measurement needs to know.
struct WorkerCase {
  std::string name;
  Recipe recipe;
  Techniques techniques;
  Limits limits;
};

/// The fields of a case that hold values, for the catalog and for reading: model, data, train,
/// limits.
void case_fields(Fields& f, Recipe& recipe, Limits& limits);

/// Reads the `case` object of a request for that device and lets its techniques edit the recipe.
/// Throws ConfigError where the object is not what the catalog describes, Unsupported where a
/// technique can't work with the rest.
WorkerCase read_case(const nlohmann::ordered_json& values, at::Device device);

/// The tables of LibTorch's side as one document (docs/protocol.md).
nlohmann::ordered_json make_catalog();

}  // namespace headroom
