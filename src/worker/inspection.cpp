// SPDX-License-Identifier: Apache-2.0
#include "src/worker/inspection.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <nlohmann/json.hpp>

#include "models/inspect.h"
#include "src/worker/flops.h"

namespace headroom {
namespace {

constexpr std::int64_t kSmallestVocabulary = 30000;

Batch one_sample(InputKind kind, const InputShape& shape) {
  Batch batch;
  batch.inputs = kind == InputKind::image
                     ? at::randn({1, 3, shape.image_size, shape.image_size})
                     : at::randint(kSmallestVocabulary, {1, shape.sequence_length}, at::kLong);
  batch.labels = at::zeros({1}, at::kLong);
  return batch;
}

}  // namespace

nlohmann::ordered_json inspect_with_flops(const ModelOptions& options, const InputShape& shape) {
  const ModelEntry& entry = find_model(options.name);
  const auto model = entry.make(options, shape, ParameterFactory(at::kCPU, at::kFloat));
  nlohmann::ordered_json result = inspect(*model);
  const FlopCounter counter;
  const at::Tensor loss = model->loss(one_sample(entry.input, shape));
  result["forward_flops"] = counter.so_far().all;
  torch::autograd::backward({loss}, {});
  result["step_flops"] = counter.so_far().all;
  return result;
}

}  // namespace headroom
