// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>

#include "models/model.h"
#include "src/optimizers/optimizer.h"
#include "techniques/evidence.h"

namespace headroom {

/// The verbs of one training step. A technique wraps a verb by a function that calls the old one.
struct Step {
  Model& model;
  Optimizer& optimizer;
  Evidence& evidence;

  std::function<at::Tensor(const Batch&)> forward{};  // a micro-batch -> its mean loss, shape ()
  std::function<void(const at::Tensor&)> backward{};  // a loss -> gradients
  /// Called when a parameter's gradient is complete for one backward pass, with its index.
  std::function<void(std::size_t)> gradient_ready{};
  /// Once all gradients are there: makes them fit for update (unscaled, clipped).
  std::function<void()> finish_gradients{};
  std::function<void()> update{};  // gradients -> parameters
};

}  // namespace headroom
