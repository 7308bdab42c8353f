// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/optimizers/optimizer.h"

namespace headroom {

/// Stochastic gradient descent. No state, or with momentum one buffer of the parameter's shape and
/// dtype: P * dtype bytes. Operations and temporaries are those of torch.optim.SGD in PyTorch 2.11.
class Sgd final : public UpdateRule {
 public:
  Sgd(const OptimizerOptions& options, std::size_t count, StateFactory make_state);
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;
  std::vector<at::Tensor> state() const override;

 private:
  void apply_per_tensor(const UpdateTensors& tensors, const UpdateStep& step);
  void apply_multi_tensor(const UpdateTensors& tensors, const UpdateStep& step);
  void apply_fused(const UpdateTensors& tensors, const UpdateStep& step);
  std::vector<at::Tensor> momentum_of(const UpdateTensors& tensors);

  OptimizerOptions options_;
  StateFactory make_state_;
  std::vector<at::Tensor> momentum_;  // empty where there is none
};

}  // namespace headroom
