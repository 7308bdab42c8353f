// SPDX-License-Identifier: Apache-2.0
#include "models/text_model.h"

#include <ATen/ops/arange.h>

#include <string>

#include "src/core/error.h"

namespace headroom {

void check_positions(const ModelOptions& options, const InputShape& shape, std::int64_t positions) {
  if (shape.sequence_length < 1 || shape.sequence_length > positions) {
    throw ConfigError(options.name + " reads 1 to " + std::to_string(positions) +
                      " tokens; the sequence length is " + std::to_string(shape.sequence_length));
  }
}

at::Tensor position_ids(const at::Tensor& ids) {
  return at::arange(ids.size(1), ids.options()).unsqueeze(0);
}

}  // namespace headroom
