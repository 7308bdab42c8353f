// SPDX-License-Identifier: Apache-2.0
#include "techniques/narrow_weights.h"

namespace headroom {

std::optional<at::ScalarType> scalar_type(WeightDtype dtype) {
  switch (dtype) {
    case WeightDtype::float32:
      return at::kFloat;
    case WeightDtype::float16:
      return at::kHalf;
    case WeightDtype::bfloat16:
      return at::kBFloat16;
    case WeightDtype::same:
      break;
  }
  return std::nullopt;
}

bool is_narrow(WeightDtype dtype) {
  return dtype == WeightDtype::float16 || dtype == WeightDtype::bfloat16;
}

}  // namespace headroom
