// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "models/parameters.h"

namespace headroom {

/// Batch normalisation of each of C channels of (B, C, H, W), with the parameters, buffers and
/// defaults of torch.nn.BatchNorm2d. While a model trains, by the mean and the variance of the
/// channel over all samples and pixels of the micro-batch, of which the running statistics take a
/// tenth; else by the running statistics.
struct BatchNorm {
  at::Tensor weight;               // (C), made as ones
  at::Tensor bias;                 // (C), made as zeros
  at::Tensor running_mean;         // (C), a buffer, made as zeros
  at::Tensor running_var;          // (C), a buffer, made as ones
  at::Tensor num_batches_tracked;  // () int64, a buffer

  BatchNorm(ParameterFactory& parameters, const std::string& name, std::int64_t channels);
  /// Throws ConfigError where a model trains on one sample of one pixel: it has no variance.
  at::Tensor operator()(const at::Tensor& x, bool training) const;
};

/// While one lives, running statistics stay as they are on this thread: what runs, ran before on
/// the same batch. Outputs and what is saved for backward are as ever.
class StatisticsStay {
 public:
  StatisticsStay();
  ~StatisticsStay();
  StatisticsStay(const StatisticsStay&) = delete;
  StatisticsStay& operator=(const StatisticsStay&) = delete;

 private:
  bool before_;
};

}  // namespace headroom
