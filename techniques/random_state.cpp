// SPDX-License-Identifier: Apache-2.0
#include "techniques/random_state.h"

#include <ATen/Context.h>

namespace headroom {

at::Tensor get_random_state(at::Device device) {
  return at::globalContext().defaultGenerator(device).get_state();
}

RandomStateScope::RandomStateScope(at::Device device, const at::Tensor& state)
    : generator_(at::globalContext().defaultGenerator(device)), before_(generator_.get_state()) {
  generator_.set_state(state);
}

RandomStateScope::~RandomStateScope() { generator_.set_state(before_); }

}  // namespace headroom
