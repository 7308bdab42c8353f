// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "techniques/technique.h"

// Weights that are kept in one dtype and computed with in another.
namespace headroom {

/// What a suite may ask weights, or their gradients, to be in where they are at work.
enum class WeightDtype { same, float32, float16, bfloat16 };

/// Empty: `same`.
std::optional<at::ScalarType> scalar_type(WeightDtype dtype);

/// Whether it has 16 bits.
bool is_narrow(WeightDtype dtype);

/// The tolerances of weights in 16 bits, as bfloat16's.
inline constexpr RoundingOption kNarrowWeights{
    .option = "parameter_dtype", .loss_tolerance = 5e-2, .gradient_tolerance = 1e-1};

/// Why mixed_precision in float16 is refused beside gradients in 16 bits that the update widens.
inline constexpr const char* kNoScalingOfNarrowGradients =
    "a parameter_dtype of 16 bits keeps gradients so until the update; mixed_precision in float16 "
    "can't undo its loss scaling there. There is mixed_precision in bfloat16";

}  // namespace headroom
