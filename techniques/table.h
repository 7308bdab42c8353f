// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "techniques/technique.h"

namespace headroom {

/// An option that makes a technique round, where it is not at its default, and what it adds to the
/// technique's tolerances then.
struct RoundingOption {
  std::string_view option = {};  // empty: there is none
  double loss_tolerance = 0.0;
  double gradient_tolerance = 0.0;
};

/// One technique that a suite can name.
struct TechniqueEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view saves;  // the formula in bytes; P: parameters, 4P: their bytes in fp32
  std::string_view costs;
  std::string_view source;
  std::unique_ptr<Technique> (*make)();
  /// How far, relative to the same case without techniques, the loss of the first step may lie
  /// (dropout 0). 0: not one bit.
  double loss_tolerance = 0.0;
  /// ... and the norm of the first step's gradients. Sums in another order differ in last bits.
  double gradient_tolerance = 1e-5;
  RoundingOption rounds_by = {};
  /// Names of techniques it can't be combined with, beyond the rule of `excluded_by`; one side
  /// names the other.
  std::span<const std::string_view> excludes = {};
  bool joins_ranks = false;   // it makes one training of what all ranks do
  bool shares_batch = false;  // ... of the same samples
};

/// All techniques, in the order in which `headroom list techniques` prints them.
std::span<const TechniqueEntry> technique_table();

/// What the entry excludes; of all that join ranks, a case has one.
std::vector<std::string_view> excluded_by(const TechniqueEntry& entry);

/// The entry of that name; throws ConfigError with the allowed names.
const TechniqueEntry& find_technique(std::string_view name);

}  // namespace headroom
