// SPDX-License-Identifier: Apache-2.0
#include "models/layers.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

namespace headroom {

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

LayerNorm::LayerNorm(ParameterFactory& parameters, const std::string& name, std::int64_t width,
                     double eps)
    : weight(parameters.constant(name + ".weight", {width}, 1.0)),
      bias(parameters.constant(name + ".bias", {width}, 0.0)),
      epsilon(eps) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, epsilon);
}

at::Tensor Embedding::operator()(const at::Tensor& ids) const {
  return at::embedding(weight, ids, padding_index);
}

Linear normal_linear(ParameterFactory& parameters, const std::string& name, std::int64_t in,
                     std::int64_t out) {
  at::Tensor weight = parameters.normal(name + ".weight", {out, in}, kInitializerRange);
  return {.weight = weight, .bias = parameters.constant(name + ".bias", {out}, 0.0)};
}

Linear unbiased_linear(ParameterFactory& parameters, const std::string& name, std::int64_t in,
                       std::int64_t out) {
  return {.weight = parameters.normal(name + ".weight", {out, in}, kInitializerRange)};
}

Embedding normal_embedding(ParameterFactory& parameters, const std::string& name,
                           at::IntArrayRef shape, std::int64_t padding_index) {
  at::Tensor weight = parameters.normal(name + ".weight", shape, kInitializerRange);
  if (padding_index != Embedding::kNoPadding) {
    const at::NoGradGuard no_grad;
    weight.select(0, padding_index).zero_();
  }
  return {.weight = weight, .padding_index = padding_index};
}

at::Tensor position_ids(const at::Tensor& ids) {
  return at::arange(ids.size(1), ids.options()).unsqueeze(0);
}

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
