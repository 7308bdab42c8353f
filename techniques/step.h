// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/model.h"
#include "models/saved_weights.h"
#include "src/distributed/process_group.h"
#include "src/memory/ledger.h"
#include "src/optimizers/clip.h"
#include "src/optimizers/optimizer.h"

namespace headroom {

/// What a run saw of its techniques: a technique that silently did nothing would pass every test of
/// equality. Counts are over the whole run.
struct Evidence {
  std::int64_t steps = 0;                   // optimizer updates, skipped ones included
  std::int64_t backward_passes = 0;         // calls of backward
  std::int64_t recomputed_blocks = 0;       // forward passes run again for backward
  std::int64_t loss_chunks = 0;             // parts of the loss that ran again for backward
  std::int64_t offloaded_bytes = 0;         // saved tensors copied to the host
  std::int64_t fetched_bytes = 0;           // ... and back
  std::int64_t compressed_bytes = 0;        // of saved tensors, as they were
  std::int64_t bytes_of_codes = 0;          // ... and as they were kept
  std::int64_t recomputed_halves = 0;       // of feed-forward layers, run again for backward
  std::int64_t low_rank_products = 0;       // beside products by weights that are not trained
  std::int64_t graph_launches = 0;          // micro-batches that ran as one recorded graph
  std::int64_t updates_in_backward = 0;     // parameters updated before backward ended
  std::int64_t staged_parameter_bytes = 0;  // parameters made elsewhere than they stay, or wider
  std::int64_t parameter_bytes = 0;         // parameters as they are trained
  std::int64_t trained_bytes = 0;           // what the optimizer updates: of them, this rank's
  std::int64_t parameter_count = 0;         // ... their elements
  std::int64_t parameter_tensors = 0;       // ... and how many tensors they are
  std::int64_t frozen_count = 0;            // elements of parameters that are not trained
  std::int64_t device_state_bytes = 0;      // optimizer state beside the parameters
  std::int64_t host_state_bytes = 0;        // optimizer state on the host
  std::int64_t gathers = 0;                 // of weights, from the parts that ranks have
  std::int64_t reductions = 0;              // of gradients, over ranks
  std::int64_t flops = 0;                   // of one step, products only
  std::int64_t low_precision_flops = 0;     // those of them in 16 bits
};

/// What tells tensors apart in a map: the same for all handles of one tensor.
inline const void* key_of(const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl(); }

/// The parts and the verbs of one training step. A technique wraps a verb by a function that calls
/// the old one.
struct Step {
  Model& model;
  Ledger& ledger;
  Evidence& evidence;
  ProcessGroup* group = nullptr;  // the ranks that train together; null: this process alone
  /// What the optimizer updates: the model's trained parameters, or what a technique made of them.
  std::vector<at::Tensor> trained{};
  /// Makes the model's parameters again, one at a time, in their order, and hands each over with
  /// its index; empty: they hold their values already.
  std::function<void(const MadeParameter&)> draw_parameters{};
  Optimizer* optimizer = nullptr;  // made when all techniques have had their say on `trained`
  bool first_micro_batch = true;   // of the step
  bool last_micro_batch = true;    // ... from forward on
  double share_of_batch = 1.0;     // that the micro-batch is
  bool is_counted = false;         // what this step computes is counted; the next ones are timed

  /// Before the first forward of a step: its whole batch, on the CPU.
  std::function<void(const Batch&)> begin_batch = [](const Batch&) {};
  std::function<at::Tensor(const Batch&)> forward{};  // a micro-batch -> its mean loss, shape ()
  std::function<void(const at::Tensor&)> backward{};  // a loss -> gradients
  /// Forward and backward of a micro-batch -> its part of the batch's mean loss, shape (),
  /// detached. What wraps it is around all that wraps those two.
  std::function<at::Tensor(const Batch&)> run_micro_batch{};
  /// Called when a parameter of the model has its gradient of one backward pass, with its index.
  std::function<void(std::size_t)> parameter_ready{};
  /// Called when one of `trained` has its gradient of one backward pass, with its index.
  std::function<void(std::size_t)> gradient_ready{};
  GradientShare share{};  // what of the whole model's gradients those of `trained` are
  /// After the last backward pass of a step: brings the gradients of `trained` together from where
  /// they arose. Nothing to do where they arose there.
  std::function<void()> collect_gradients = [] {};
  /// Once all gradients are there: makes them fit for update (unscaled, clipped).
  std::function<void()> finish_gradients{};
  std::function<void()> update{};  // gradients -> `trained`
  /// After the update: brings the weights to where forward reads them, where that is elsewhere.
  std::function<void()> publish_weights = [] {};
  /// What of the model's weights this rank is to save; together the ranks save all of them, once.
  std::function<std::vector<WeightPart>()> own_weights{};
  /// Calls a function while all of the model's weights are in memory.
  std::function<void(const std::function<void()>&)> with_weights = [](const auto& call) { call(); };
};

}  // namespace headroom
