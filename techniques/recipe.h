// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>

#include "models/data/dataset.h"
#include "models/data/loader.h"
#include "models/table.h"
#include "src/core/fields.h"
#include "src/distributed/process_group.h"
#include "src/memory/allocator_settings.h"
#include "src/optimizers/options.h"
#include "techniques/mixed_precision.h"

namespace headroom {

enum class Precision { float32, float64 };
enum class ZeroGrad {
  to_none,  // frees the gradients
  to_zero,  // keeps their memory and fills it with zeros
};
enum class ZeroGradWhen {
  before_backward,  // the last step's gradients live through the next forward
  after_step,
};

/// Of what each rank keeps its part alone. Each value includes those before it.
enum class Sharding { none, state, gradients, weights };
/// Where what the optimizer updates stays.
enum class WeightsOn { device, host };

/// What a suite may say of the training.
struct TrainOptions {
  std::int64_t batch_size = 8;  // samples an update, on each rank
  OptimizerOptions optimizer;
  Precision precision = Precision::float32;
  std::int64_t steps = 10;        // that are timed
  std::int64_t warmup_steps = 3;  // before them
  std::int64_t seed = 123;        // of weights, data order and dropout
  ZeroGrad zero_grad = ZeroGrad::to_none;
  ZeroGradWhen zero_grad_when = ZeroGradWhen::after_step;
  double max_gradient_norm = 0.0;       // 0: gradients are not clipped
  bool tf32 = false;                    // CUDA
  std::int64_t held_out_samples = 256;  // on which accuracy is read; 0: none
  CollectiveBackend backend = CollectiveBackend::automatic;
  std::string save_weights = {};  // a folder; empty: they are not kept

  void fields(Fields& f);
};

/// What a case will do, as values. No tensor exists while a recipe is edited.
struct Recipe {
  c10::Device device = c10::kCPU;
  ModelOptions model;
  DataOptions data;
  TrainOptions train;
  AllocatorSettings allocator;
  Membership membership;
  bool computes = true;  // false: it is planned, so that no value matters

  // What techniques change. Before they do:
  at::ScalarType dtype = at::kFloat;              // of weights, gradients and optimizer state
  std::optional<at::ScalarType> weights_at_work;  // of weights and their gradients while a model
                                                  // runs, where that is not `dtype`
  std::optional<at::ScalarType> autocast;         // of the products in forward and backward
  OptimizerOptions optimizer;                     // train.optimizer
  bool optimizer_on_host = false;
  std::int64_t micro_batches = 1;  // an update
  bool build_on_device = false;    // false: in full precision on the host, then moved and cast
  bool joins_ranks = false;        // a technique makes one training of all ranks'
  bool replicates_batch = false;   // all ranks work on the same samples: tensor parallelism
  Sharding sharding = Sharding::none;
  WeightsOn weights_on = WeightsOn::device;
  bool restores_random_state = false;  // what runs again draws the same numbers
  bool cuts_parameters = false;        // what the optimizer updates are parts of parameters

  /// Whether a technique puts each parameter where it stays, at split_parameters. The trainer then
  /// neither moves nor casts them.
  bool splits_parameters() const {
    return sharding != Sharding::none || weights_on == WeightsOn::host || replicates_batch;
  }
  /// Samples of one micro-batch; the last may be smaller.
  std::int64_t micro_batch_size() const;
  /// Which samples of a batch are this rank's.
  BatchShare batch_share() const;
  /// How autocast is set while the model runs. Of weights that come and go no casts are kept: they
  /// would stay when the weights are gone, for all blocks.
  AutocastState autocast_state() const;
  /// What products are computed in.
  at::ScalarType product_dtype() const { return autocast.value_or(dtype_at_work()); }
  /// Of weights and their gradients while a model runs.
  at::ScalarType dtype_at_work() const { return weights_at_work.value_or(dtype); }
  /// "float32", "bfloat16", "mixed_float16", ...
  std::string precision_name() const;
};

}  // namespace headroom
