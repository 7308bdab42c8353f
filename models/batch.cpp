// SPDX-License-Identifier: Apache-2.0
#include "models/batch.h"

namespace headroom {

Batch Batch::slice(std::int64_t start, std::int64_t count) const {
  const auto part = [&](const at::Tensor& t) {
    return t.defined() ? t.narrow(0, start, count) : t;
  };
  return {part(inputs), part(attention_mask), part(labels)};
}

Batch Batch::to(at::Device device) const {
  // From page-locked memory the copy is asynchronous; from pageable memory `non_blocking` is void.
  const auto move = [&](const at::Tensor& t) {
    return t.defined() ? t.to(device, t.scalar_type(), /*non_blocking=*/true) : t;
  };
  return {move(inputs), move(attention_mask), move(labels)};
}

}  // namespace headroom
