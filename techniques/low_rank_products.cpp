// SPDX-License-Identifier: Apache-2.0
#include "techniques/low_rank_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>

namespace headroom {

std::vector<at::Tensor> LowRankProducts::column_parallel(const at::Tensor& x, std::int64_t,
                                                         std::initializer_list<Linear> layers) {
  std::vector<at::Tensor> outputs;
  for (const Linear& layer : layers) outputs.push_back(product(x, layer));
  return outputs;
}

at::Tensor LowRankProducts::row_parallel(const at::Tensor& x, std::int64_t, const Linear& layer) {
  return product(x, layer);
}

at::Tensor LowRankProducts::product(const at::Tensor& x, const Linear& layer) const {
  // A weight that is kept as (in, out) comes as a view.
  const void* const key =
      key_of(layer.weight.is_view() ? at::Tensor(layer.weight._base()) : layer.weight);
  const auto found = low_rank_.find(key);
  if (found == low_rank_.end()) return layer(x);
  ++count_;
  const LowRank& beside = found->second;
  const at::Tensor reduced = at::linear(x, beside.a) * beside.scale;  // (..., rank)
  const at::Tensor added = at::linear(reduced, beside.b);
  // Last: where this runs again for backward, it ends at what the last product keeps, and the large
  // one is not computed.
  return layer(x) + added;
}

at::Tensor merged(const at::Tensor& weight, const LowRank& low_rank, bool is_transposed) {
  const at::NoGradGuard no_grad;
  const at::Tensor a = low_rank.a.cpu();
  const at::Tensor b = low_rank.b.cpu();
  return is_transposed ? at::addmm(weight.cpu(), a.t(), b.t(), 1.0, low_rank.scale)
                       : at::addmm(weight.cpu(), b, a, 1.0, low_rank.scale);
}

}  // namespace headroom
