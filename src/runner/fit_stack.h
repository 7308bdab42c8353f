// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/suite/catalog.h"

// What `headroom fit` tries: stacks of techniques, cheapest first.
namespace headroom {

/// A stack of techniques, as a case takes it.
struct FitStack {
  std::string name;       // "fused+activation_checkpointing"; "plain" where it is empty
  bool is_fused = false;  // the optimizer's implementation, in place of the suite's
  nlohmann::ordered_json techniques = nlohmann::ordered_json::array();  // [{"name", ...options}]
  std::string changes;  // in what is computed, for people; empty: nothing but rounding
  FitCost cost;

  bool accumulates() const { return cost.whole_batch == 0; }
};

/// What decides which stacks there are.
struct FitStackOptions {
  bool may_fuse = true;              // the optimizer's implementation is free, and not `fused` yet
  std::string_view mixed_precision;  // "bfloat16", or "float16" where the GPU has no bfloat16
  std::int64_t ranks = 1;            // of several each stack joins them
};

/// All stacks, cheapest first. Left out is what the catalog lacks, or excludes from one case.
std::vector<FitStack> fit_stacks(const Catalog& catalog, const FitStackOptions& options);

/// The options of a technique: its defaults, with `given` over them.
nlohmann::ordered_json complete_technique(const TechniqueInfo& technique,
                                          const nlohmann::ordered_json& given);

}  // namespace headroom
