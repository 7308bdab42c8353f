// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

namespace headroom {

/// What a suite may ask weights or gradients that ranks share to be in.
enum class ShardDtype { same, float32, float16, bfloat16 };

/// Empty: `same`.
std::optional<at::ScalarType> scalar_type(ShardDtype dtype);

/// Whether it has 16 bits.
bool is_narrow(ShardDtype dtype);

}  // namespace headroom
