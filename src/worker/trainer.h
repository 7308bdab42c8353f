// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/saved_weights.h"
#include "src/memory/ledger.h"
#include "src/worker/gradient_norms.h"
#include "techniques/technique.h"

namespace headroom {

using Techniques = std::vector<std::unique_ptr<Technique>>;

/// A model, an optimizer and a step, made after a recipe and wrapped by techniques.
class Trainer {
 public:
  /// Builds everything, and waits for the other ranks where the recipe joins them. The recipe has
  /// been edited already. All arguments outlive the trainer.
  Trainer(const Recipe& recipe, const Techniques& techniques, Ledger& ledger);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One update on this rank's batch of `recipe.train.batch_size` samples, on the CPU. Returns the
  /// mean loss over the batches of all ranks; reading it waits for the device.
  double step(const Batch& batch);
  /// The same, while the caller counts what is computed; the steps behind it are to be timed.
  double counted_step(const Batch& batch);

  Model& model() { return *model_; }
  /// Calls `call` while all of the model's weights are in memory. All ranks do so together.
  void with_weights(const std::function<void()>& call) { step_->with_weights(call); }
  /// What of the weights this rank is to save, and of the first rank its buffers: ranks see other
  /// samples, and each keeps statistics of its own.
  std::vector<WeightPart> own_weights() const;
  const Optimizer& optimizer() const { return *optimizer_; }
  Evidence& evidence() { return evidence_; }
  /// The evidence with what is known only at the end: where the optimizer's state lies.
  Evidence final_evidence() const;
  /// The global 2-norm of the first step's gradients, unscaled and unclipped: a loss alone says
  /// nothing of backward. Empty before that step, and where they overflowed, as scaled fp16 may.
  /// All ranks ask for it together.
  std::optional<double> first_gradient_norm() const;
  /// Bytes of weights, gradients and optimizer state on the device when the last step's backward
  /// passes had ended.
  std::int64_t model_states_bytes() const { return model_states_bytes_; }
  /// Bytes that techniques copied between device and host so far.
  std::int64_t copied_bytes() const;
  /// Bytes that collectives had this rank send so far, at least.
  std::int64_t sent_bytes() const { return group_ ? group_->sent_bytes() : 0; }

 private:
  void build_model();
  void build_model_on_host();
  void place_buffers();
  void make_model(at::Device device, at::ScalarType dtype, Start how,
                  const MadeParameter& made = {});
  /// What parameters begin with: where nothing is computed they need not be drawn.
  Start start() const { return recipe_.computes ? Start::drawn : Start::zeros; }
  std::unique_ptr<Model> new_model(at::Device device, at::ScalarType dtype, Start how,
                                   const MadeParameter& made);
  void count_parameters();
  void open_saved_weights();
  void read_saved(const std::string& name, const at::Tensor& into);
  void follow_blocks();
  void follow_gradients();
  void make_step();
  void make_optimizer();
  void draw_parameters(const MadeParameter& made);
  void give_each_rank_its_own_dropout() const;
  at::Tensor mean_over_ranks(const at::Tensor& loss) const;
  Batch to_device(const Batch& micro_batch) const;
  at::Tensor run_micro_batch(const Batch& micro_batch);
  void zero_gradients();
  void note_gradient_norm(std::size_t index);

  const Recipe& recipe_;
  const Techniques& techniques_;
  Ledger& ledger_;
  Evidence evidence_;
  std::optional<SavedWeights> saved_;  // to begin with
  std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<Model> model_;
  std::size_t own_parameters_ = 0;  // of the model's, those that no technique added
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Step> step_;
  std::optional<GradientNorms> gradient_norms_;  // of the first step
  std::int64_t model_states_bytes_ = 0;
};

}  // namespace headroom
