// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "models/table.h"

namespace headroom {

/// Floating-point operations of matrix products, convolutions and attention; a multiplication with
/// its addition counts 2.
struct Flops {
  std::int64_t all = 0;
  std::int64_t low_precision = 0;  // those with 16-bit operands
};

/// Counts what all threads run while it lives, from the shapes of the operators' inputs. What is
/// run twice (checkpointing) counts twice. One counter at a time. Source of the formulas:
/// torch.utils.flop_counter of PyTorch 2.11.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  /// Throws std::overflow_error where they are more than an integer holds.
  Flops so_far() const;

 private:
  std::uint64_t callback_;
};

/// What `headroom inspect` prints: models/inspect.h, and the FLOPs of one sample, counted by
/// running it on the CPU: "forward_flops", and "step_flops" with backward. Throws ConfigError where
/// the shape does not fit the model.
nlohmann::ordered_json inspect_with_flops(const ModelOptions& options, const InputShape& shape);

}  // namespace headroom
