// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "src/core/fields.h"

namespace headroom {

/// How an update is computed: the mathematics are the same, temporaries and launches are not.
enum class Implementation {
  per_tensor,    // a loop over the parameters, a few operators each
  multi_tensor,  // PyTorch's default on CUDA ("foreach"): one temporary as large as the parameters
  fused,         // one kernel that reads and writes everything once, no temporary
  // multi_tensor as in PyTorch 2.0 and in nightlies until July 2023: adam and adamw make two
  // temporaries as large as the parameters; sgd made none then either. For tables of that time.
  // Source: pytorch/pytorch, issue 97712 and pull request 104898, which took the second one out.
  multi_tensor_torch_2_0,
};

enum class Schedule { constant, linear, cosine };

/// What of a gradient one factor scales, in an optimizer that scales gradients.
enum class ScaledPart {
  channel,  // each row or column
  tensor,   // all of it
};

/// What a suite may say of the optimizer.
struct OptimizerOptions {
  std::string name = "adam";
  double lr = 5e-5;
  Implementation implementation = Implementation::multi_tensor;
  Schedule schedule = Schedule::constant;
  std::int64_t schedule_steps = 1000;  // updates until linear or cosine reaches 0
  double beta1 = 0.9;                  // those with a first moment
  double beta2 = 0.999;                // those with a second moment, but for its factored form
  double eps = 1e-8;                   // as beta2
  double weight_decay = 0.0;
  double momentum = 0.0;                      // sgd
  double momentum_decay = 0.99;               // lion, whose authors call it beta2
  std::int64_t projection_rank = 128;         // apollo
  std::int64_t projection_interval = 200;     // apollo
  double scale = 1.0;                         // apollo
  ScaledPart scale_by = ScaledPart::channel;  // apollo

  void fields(Fields& f);
  /// The fields that say how the learning rate goes; shared with the technique that swaps in SGD.
  void schedule_fields(Fields& f);

  /// Throws Unsupported where the optimizer lacks the implementation.
  void check() const;

  /// The learning rate of update `step`, counted from 1.
  double lr_at(std::int64_t step) const;
};

}  // namespace headroom
