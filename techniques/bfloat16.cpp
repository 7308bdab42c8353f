// SPDX-License-Identifier: Apache-2.0
#include "techniques/bfloat16.h"

namespace headroom {

std::string Bfloat16::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.parameter_bytes != 2 * evidence.parameter_count) {
    return "parameters take " + std::to_string(evidence.parameter_bytes) + " bytes, not two each";
  }
  if (evidence.steps > 0 && evidence.low_precision_flops == 0) return "no product ran in 16 bits";
  return {};
}

}  // namespace headroom
