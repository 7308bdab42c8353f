// SPDX-License-Identifier: Apache-2.0
#include "techniques/optimizer_offload.h"

namespace headroom {

std::string OptimizerOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.device_state_bytes != 0) {
    return std::to_string(evidence.device_state_bytes) + " bytes of state are on the device";
  }
  if (evidence.host_state_bytes == 0) return "the optimizer has no state to offload";
  return {};
}

}  // namespace headroom
