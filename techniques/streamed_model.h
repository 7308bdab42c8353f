// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "techniques/random_state.h"
#include "techniques/recipe.h"
#include "techniques/step.h"
#include "techniques/streamed_weights.h"

namespace headroom {

/// A step in the order of blocks: all micro-batches run through a block before the next block runs,
/// forward and backward, so that each block's weights are fetched twice a step and not twice a
/// micro-batch. Blocks run again in backward, from inputs that wait on the host.
///
///   begin_batch        embed() of all micro-batches, and all blocks
///   forward, backward  head() and the loss of one micro-batch
///   collect_gradients  all blocks backwards, and embed() of all micro-batches
///
/// What stands between two blocks, (B, T, D) of the whole batch, lies on the device in one tensor:
/// a micro-batch's output takes the place of its input, and its input's gradient that of its
/// output's.
class StreamedModel : public std::enable_shared_from_this<StreamedModel> {
 public:
  /// Replaces the step's `trained` and wraps its model and its verbs, which keep the streamed model
  /// alive. The arguments but the dtypes outlive it.
  static void take_over(Step& step, const Recipe& recipe, const StreamedUnit::Dtypes& dtypes);

 private:
  struct MicroBatch {
    std::int64_t start;
    std::int64_t count;
  };

  StreamedModel(Step& step, const Recipe& recipe, const StreamedUnit::Dtypes& dtypes);

  void wrap_verbs();
  bool updates_on_arrival() const;
  bool update(const std::vector<std::size_t>& parameters);

  void begin_batch(const Batch& batch);
  void finish_batch();
  at::Tensor evaluate(const Batch& batch, Output output);

  at::Tensor slice(const at::Tensor& batch, std::size_t micro_batch) const;
  at::Tensor embed(std::size_t micro_batch);
  at::Tensor run_block(std::size_t block, std::size_t micro_batch, const at::Tensor& x);
  void keep_between(std::size_t micro_batch, const at::Tensor& x);
  void run_forward(std::size_t block);
  void run_backward(std::size_t block);
  void send_input(std::size_t block, std::size_t micro_batch);
  void fetch_input(std::size_t block, std::size_t micro_batch);
  void note_random_state();
  std::optional<RandomStateScope> same_random_state(std::size_t place) const;

  Step& step_;
  const Recipe& recipe_;
  StreamedWeights weights_;
  SideStream send_stream_;
  SideStream fetch_stream_;
  Batch batch_;  // of the step: inputs on the host, mask on the device
  std::vector<MicroBatch> micro_batches_;
  at::Tensor between_;               // (B, T, D) on the device
  std::vector<at::Tensor> inputs_;   // of each block, (B, T, D) on the host
  std::vector<at::Tensor> fetched_;  // two of a micro-batch's inputs, on the device
  // Before embed() of each micro-batch, then before each block's first runs; where they draw.
  std::vector<at::Tensor> random_states_;
  at::Tensor input_of_head_;  // of the micro-batch that is in the head
  std::size_t next_in_head_ = 0;
};

}  // namespace headroom
