// SPDX-License-Identifier: Apache-2.0
#include "techniques/on_device_init.h"

namespace headroom {

std::string OnDeviceInit::why_inactive(const Evidence& evidence, const Recipe& recipe) const {
  if (recipe.device.is_cpu() && !recipe.moves_in_units &&
      c10::elementSize(recipe.dtype) >= c10::elementSize(at::kFloat)) {
    return "full-precision weights on the CPU are made where and as they stay in any case; "
           "combine it with bfloat16, or use a GPU";
  }
  if (evidence.staged_parameter_bytes == 0) return {};
  return std::to_string(evidence.staged_parameter_bytes) + " bytes of parameters were staged";
}

}  // namespace headroom
