// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/parameters.h"

namespace headroom {

/// Whether a technique that keeps what blocks save in another way takes that tensor: the model's
/// parameters are kept anyhow, and of small tensors the work costs more than it saves.
inline bool is_large_activation(const at::Tensor& tensor, std::span<const Parameter> parameters) {
  constexpr std::size_t kSmallestBytes = 16 * 1024;
  return tensor.nbytes() >= kSmallestBytes &&
         std::ranges::none_of(parameters, [&](const Parameter& parameter) {
           return parameter.tensor.storage().data() == tensor.storage().data();
         });
}

}  // namespace headroom
