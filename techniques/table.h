// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "techniques/technique.h"

namespace headroom {

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
  /// Names of techniques it can't be combined with; one side names the other.
  std::span<const std::string_view> excludes = {};
  bool joins_ranks = false;  // it makes one training of what all ranks do
};

/// All techniques, in the order in which `headroom list techniques` prints them.
std::span<const TechniqueEntry> technique_table();

/// The entry of that name; throws ConfigError with the allowed names.
const TechniqueEntry& find_technique(std::string_view name);

}  // namespace headroom
