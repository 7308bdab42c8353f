// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/optimizers/update_rule.h"

namespace headroom {

/// Updates a model's parameters, all at once or as their gradients arrive.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Starts update number `step() + 1`.
  void begin_step() { ++step_; }
  /// Takes the last begin_step() back: the update was skipped.
  void skip_step() { --step_; }
  /// Updates those of the given parameters that have a gradient.
  virtual void update(std::span<const std::size_t> indices, const at::Tensor& found_inf = {}) = 0;
  /// Updates all.
  void update_all(const at::Tensor& found_inf = {});

  /// State that lives on the device of the parameters, and state that lives on the host.
  virtual std::vector<at::Tensor> device_state() const = 0;
  virtual std::vector<at::Tensor> host_state() const { return {}; }
  /// Bytes copied between device and host so far.
  virtual std::int64_t copied_bytes() const { return 0; }

  const OptimizerOptions& options() const { return options_; }
  std::span<const at::Tensor> parameters() const { return parameters_; }
  std::int64_t step() const { return step_; }

 protected:
  Optimizer(OptimizerOptions options, std::vector<at::Tensor> parameters)
      : options_(std::move(options)), parameters_(std::move(parameters)) {}
  /// Those of `indices` that have a gradient; one that is narrower than its parameter as a widened
  /// copy.
  UpdateTensors gather(std::span<const std::size_t> indices) const;

 private:
  OptimizerOptions options_;
  std::vector<at::Tensor> parameters_;
  std::int64_t step_ = 0;
};

/// State and update on the device of the parameters.
std::unique_ptr<Optimizer> make_device_optimizer(const OptimizerOptions& options,
                                                 std::vector<at::Tensor> parameters);

/// State and update on the host, by the fused kernels, for parameters that lie there: offloaded
/// ones, on host buffers.
std::unique_ptr<Optimizer> make_optimizer_of_host_parameters(OptimizerOptions options,
                                                             std::vector<at::Tensor> parameters,
                                                             PlannedUpdate planned);

/// State, and a copy of the parameters, on the host, where the update is computed: see
/// host_optimizer.cpp.
std::unique_ptr<Optimizer> make_host_optimizer(const OptimizerOptions& options,
                                               std::vector<at::Tensor> parameters,
                                               PlannedUpdate planned);

}  // namespace headroom
