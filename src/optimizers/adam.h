// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/optimizers/optimizer.h"

namespace headroom {

/// Adam and AdamW. Two moments of the parameter's shape and dtype: 2 * P * dtype bytes.
/// Source: Kingma & Ba, arXiv:1412.6980; Loshchilov & Hutter, arXiv:1711.05101; the order of
/// operations and the temporaries are those of torch.optim.Adam in PyTorch 2.11, or in 2.0 where
/// the implementation says so. At the update's peak multi_tensor holds 5 P * dtype bytes (weights,
/// gradients, two moments, denominators), multi_tensor_torch_2_0 6 P * dtype.
class Adam final : public UpdateRule {
 public:
  Adam(const OptimizerOptions& options, std::size_t count, StateFactory make_state);
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;
  std::vector<at::Tensor> state() const override;

 private:
  struct Moments {
    std::vector<at::Tensor> first;
    std::vector<at::Tensor> second;
  };
  Moments moments_of(const UpdateTensors& tensors);
  void apply_per_tensor(const UpdateTensors& tensors, Moments& moments, const UpdateStep& step);
  void apply_multi_tensor(const UpdateTensors& tensors, Moments& moments, const UpdateStep& step);
  void apply_multi_tensor_torch_2_0(const UpdateTensors& tensors, Moments& moments,
                                    const UpdateStep& step);
  void apply_fused(const UpdateTensors& tensors, Moments& moments, const UpdateStep& step);
  std::vector<at::Tensor> decay_weights(const UpdateTensors& tensors, double lr) const;

  OptimizerOptions options_;
  StateFactory make_state_;
  bool decoupled_decay_;  // AdamW
  std::vector<at::Tensor> first_;
  std::vector<at::Tensor> second_;
  // Of the fused kernels, on the device, so that a skipped update needs no word from the host.
  at::Tensor steps_done_;     // shape (); the number of this update, skipped ones not counted
  at::Tensor steps_skipped_;  // shape ()
};

}  // namespace headroom
