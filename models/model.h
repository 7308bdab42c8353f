// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/layers.h"
#include "models/parameters.h"

namespace headroom {

/// What a model reads for one step. B samples; images have 3 channels, H x W; texts T tokens.
struct Batch {
  at::Tensor inputs;          // (B, 3, H, W) fp32 images, or (B, T) int64 token ids
  at::Tensor attention_mask;  // (B, T) int64, 1 where a token counts; undefined: every token does
  at::Tensor labels;          // (B) int64 class ids; undefined where only logits are wanted

  std::int64_t size() const { return inputs.size(0); }
  /// Samples [start, start + count), as views.
  Batch slice(std::int64_t start, std::int64_t count) const;
  Batch to(at::Device device) const;
};

inline constexpr std::int64_t kNoTarget = -100;  // what PyTorch's cross entropy leaves out

/// Over logits (..., C) and as many targets, shape (), fp32 or wider: logits below fp32 are cast
/// first.
at::Tensor mean_cross_entropy(at::Tensor logits, const at::Tensor& targets);
at::Tensor sum_of_cross_entropy(at::Tensor logits, const at::Tensor& targets);

/// How one repeated layer is run. What blocks hand to each other is (B, T, D) of tokens, always of
/// one shape, or (B, C, H, W) of images, of which all but B may change: ModelEntry::between.
using BlockFunction = std::function<at::Tensor(const at::Tensor&)>;

/// A repeated layer of a model. A technique that works by layers (checkpointing, offload, sharding)
/// replaces `run` by a function that calls the old one.
struct Block {
  BlockFunction run;
  std::vector<at::Tensor> parameters;  // those that `run` reads, the same handles as the model's
  std::vector<ParallelLinear>
      parallel_layers;  // what `run` multiplies by through the model's products()
  std::string prefix;   // of its parameters' names
};

/// What a whole model is run for.
enum class Output { logits, loss };

/// How a whole model is run: a batch -> its logits, or its loss.
using ModelFunction = std::function<at::Tensor(const Batch&, Output)>;
/// How the loss comes of what the last block hands on.
using LossFunction = std::function<at::Tensor(at::Tensor x, const Batch&)>;

/// How a block runs the second half of its feed-forward layer: `nonlinear`, (..., I) -> (..., I),
/// and `product`, (..., I) -> (..., D), which reads its result. `held` is there until `nonlinear`
/// is done, and nobody reads it.
using SecondHalf =
    std::function<at::Tensor(at::Tensor hidden, at::Tensor held, const BlockFunction& nonlinear,
                             const BlockFunction& product)>;

/// What the blocks begin with, and what the Python reference still holds while they run.
struct Embedded {
  at::Tensor x;  // as blocks hand it on
  std::vector<at::Tensor> held = {};
};

/// A network that tells classes apart: something that embeds, repeated blocks, a head.
/// Single-device code that knows no technique. Its parameters carry the names of its Python
/// reference.
class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// A score for each of C classes, in the dtype of the weights: (B, C), one class a sample; or
  /// (B, T, C), one for each token.
  at::Tensor logits(const Batch& batch) { return run_(batch, Output::logits); }
  /// The classes that logits() should tell, (B) or (B, T) int64; kNoTarget where there is none.
  virtual at::Tensor targets(const Batch& batch) const { return batch.labels; }
  /// Mean cross entropy over the targets.
  at::Tensor loss(const Batch& batch) { return run_(batch, Output::loss); }

  /// What logits() and loss() call. A technique may replace it by a function that calls the old
  /// one, or by one that calls enter(), embed(), blocks() and finish().
  ModelFunction& run() { return run_; }
  /// Before a batch's first block, and again where another batch was in the blocks since: what
  /// blocks read of a batch besides x is its mask.
  void enter(const Batch& batch);
  virtual Embedded embed(const Batch& batch) = 0;
  /// The parameter of which embed() reads the rows that batch.inputs name, (V, D), and nobody reads
  /// anything else; undefined: there is none. The row of a padding token is the first.
  virtual at::Tensor token_table() const { return {}; }
  /// What the last block hands on -> logits(). Where there is one for each token, they may be given
  /// a few at a time.
  virtual at::Tensor head(at::Tensor x) = 0;
  /// The parameters of the layer of head() that starts anew for a task, when a pretrained model is
  /// tuned for its classes; none: a pretrained layer tells them.
  virtual std::vector<at::Tensor> classifier() const { return {}; }
  at::Tensor finish(at::Tensor x, const Batch& batch, Output output);
  /// Which finish() calls; a technique may replace it.
  LossFunction& loss_of() { return loss_of_; }
  std::span<Block> blocks() { return blocks_; }
  /// How blocks multiply; a technique may put another in its place.
  std::unique_ptr<BlockProducts>& products() { return products_; }
  /// What feed-forward layers call; a technique may replace it by a function that calls the old
  /// one.
  SecondHalf& second_half() { return second_half_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  /// What forward passes keep of batches while the model trains, and read when it does not.
  std::span<const Buffer> buffers() const { return buffers_; }
  std::int64_t parameter_count() const;
  /// Takes parameters in behind those there are. A block reads those that begin with its prefix.
  void extend(std::vector<Parameter> parameters);
  /// The indices of the parameters that each block alone reads, and behind them of all others.
  std::vector<std::vector<std::size_t>> parameters_by_block() const;

  /// While a model trains, dropout is applied and normalisations by the batch take and keep its
  /// statistics; a new model trains.
  void set_training(bool training) { training_ = training; }

 protected:
  explicit Model(std::vector<Parameter> parameters, std::vector<Buffer> buffers = {})
      : parameters_(std::move(parameters)),
        buffers_(std::move(buffers)),
        run_([this](const Batch& batch, Output output) {
          enter(batch);
          Embedded embedded = embed(batch);
          return finish(run_blocks(std::move(embedded.x)), batch, output);
        }),
        loss_of_([this](at::Tensor x, const Batch& batch) {
          return mean_cross_entropy(head(std::move(x)), targets(batch));
        }) {}
  /// Adds a block that reads the parameters whose names start with `prefix`.
  void add_block(const std::string& prefix, std::vector<ParallelLinear> parallel_layers,
                 BlockFunction run);

  std::vector<Block> blocks_;
  std::unique_ptr<BlockProducts> products_ = std::make_unique<BlockProducts>();
  SecondHalf second_half_ = [](at::Tensor hidden, at::Tensor held, const BlockFunction& nonlinear,
                               const BlockFunction& product) {
    hidden = nonlinear(hidden);  // its input is gone where backward does not keep it
    held.reset();
    return product(hidden);
  };
  at::Tensor mask_;  // (B, 1, 1, T) of the batch that is in the blocks, or undefined
  bool training_ = true;

 private:
  at::Tensor run_blocks(at::Tensor x);

  std::vector<Parameter> parameters_;
  std::vector<Buffer> buffers_;
  ModelFunction run_;
  LossFunction loss_of_;
};

}  // namespace headroom
