// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/block_map.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <optional>

namespace headroom {

at::Tensor dynamic_map(bool is_signed, int decades) {
  std::vector<at::Tensor> parts{at::tensor({0.0F, 1.0F})};
  for (int decade = 0; decade < decades; ++decade) {
    const std::int64_t bounds = (std::int64_t{1} << (decade + (is_signed ? 0 : 1))) + 1;
    const at::Tensor bound = at::linspace(0.1, 1.0, bounds, at::kFloat);
    const at::Tensor mean = (bound.slice(0, 0, -1) + bound.slice(0, 1)) / 2.0;
    parts.push_back(mean * std::pow(10.0, decade - decades + 1));
    if (is_signed) parts.push_back(-parts.back());
  }
  return std::get<0>(at::cat(parts).sort());
}

BlockMap::BlockMap(const at::Tensor& values, CodeFormat format, const at::Tensor& like,
                   const StateFactory& make_state)
    : format_(format) {
  const auto keep = [&](const at::Tensor& numbers) {
    const at::Tensor kept = make_state(like.new_empty({1}, at::kFloat).expand(numbers.sizes()));
    kept.copy_(numbers);
    return kept;
  };
  of_bytes_ =
      keep(format.two_in_a_byte ? at::stack({values.repeat_interleave(16), values.repeat({16})}, 1)
                                : values);
  edges_ = keep((values.slice(0, 0, -1) + values.slice(0, 1)) / 2.0);
}

at::Tensor BlockMap::widened(const at::Tensor& codes, const at::Tensor& scales) const {
  const at::Tensor places = codes.reshape({-1}).to(at::kInt);
  return of_bytes_.index_select(0, places).reshape({codes.size(0), -1}).mul_(scales.unsqueeze(1));
}

void BlockMap::narrow(at::Tensor numbers, at::Tensor codes, at::Tensor scales) const {
  scales.copy_(numbers.abs().amax(1));
  if (format_.least_scale > 0.0) {
    scales.clamp_min_(format_.least_scale);
  } else {
    scales.masked_fill_(scales == 0.0, 1.0);
  }
  numbers.div_(scales.unsqueeze(1));
  const at::Tensor places =
      at::searchsorted(edges_, numbers, /*out_int32=*/true, /*right=*/format_.ties_go_up);
  if (!format_.two_in_a_byte) {
    codes.copy_(places);
    return;
  }
  codes.copy_(places.slice(1, 0, std::nullopt, 2));
  codes.mul_(16).add_(places.slice(1, 1, std::nullopt, 2).to(at::kByte));
}

}  // namespace headroom
