// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "src/optimizers/update_rule.h"

// The second moment of Adafactor (Shazeer & Stern 2018, arXiv:1804.04235), which others share. Of a
// matrix (..., N, M) it keeps the means of the gradients' squares along each side, dtype * (N + M)
// bytes for each matrix; of a vector, the squares' mean of each number. State is float32 for
// narrower parameters. The order of operations is that of Adafactor in transformers 5.23.
namespace headroom {

/// The state of a parameter: (..., N) and (..., M), or the vector's own shape.
std::vector<StateTensor> factored_moment(const OptimizerOptions& options,
                                         const at::Tensor& parameter);

/// The dtype that the parameter's state has, and in which it is updated.
at::ScalarType wide_dtype(const at::Tensor& parameter);

/// The root of the mean of the squares, shape ().
at::Tensor rms(const at::Tensor& tensor);

/// What an update holds at once beside a root of each moment.
enum class FactoredTemporaries {
  two,  // of the gradient's size, as in transformers: the squares live until the update is made
  one,  // the squares are gone before
};

/// The gradient of parameter `index` over the root of its moment, which takes it in, in a new
/// tensor whose rms is at most 1. `number`: of the update, from 1.
at::Tensor factored_update(const UpdateTensors& tensors, std::size_t index, std::int64_t number,
                           FactoredTemporaries temporaries);

}  // namespace headroom
