// SPDX-License-Identifier: Apache-2.0
#include "models/block_products.h"

namespace headroom {

std::vector<at::Tensor> BlockProducts::column_parallel(const at::Tensor& x, std::int64_t,
                                                       std::initializer_list<Linear> layers) {
  std::vector<at::Tensor> outputs;
  for (const Linear& layer : layers) outputs.push_back(layer(x));
  return outputs;
}

at::Tensor BlockProducts::row_parallel(const at::Tensor& x, std::int64_t, const Linear& layer) {
  return layer(x);
}

}  // namespace headroom
