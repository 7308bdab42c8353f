// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <string_view>

namespace headroom {

/// What a technique, or a stack of them, costs where `headroom fit` chooses; the most important
/// first. Grades, not amounts: the time that a stack takes on some model and GPU is planned.
struct FitCost {
  int numerics = 0;     // 1: products in 16 bits; 2: weights too; 4: another optimizer; a stack's
                        // is the sum
  int host_link = 0;    // 1: gradients and weights cross it in each update; 2: activations do
  int recompute = 0;    // 1: one more forward pass of the blocks
  int rank_link = 0;    // 1: gradients are reduced in each micro-batch; 2: weights are gathered too
  int whole_batch = 0;  // 1: the batch can't be cut into micro-batches

  FitCost& operator+=(const FitCost& other);
  friend auto operator<=>(const FitCost&, const FitCost&) = default;
};

/// One part of a cost, by the name that the catalog has for it.
struct FitCostPart {
  std::string_view name;
  int FitCost::*value;
};

inline constexpr std::array kFitCostParts{
    FitCostPart{"numerics", &FitCost::numerics},
    FitCostPart{"host_link", &FitCost::host_link},
    FitCostPart{"recompute", &FitCost::recompute},
    FitCostPart{"rank_link", &FitCost::rank_link},
    FitCostPart{"whole_batch", &FitCost::whole_batch},
};

inline FitCost& FitCost::operator+=(const FitCost& other) {
  for (const FitCostPart& part : kFitCostParts) this->*part.value += other.*part.value;
  return *this;
}

}  // namespace headroom
