// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/attention.h"
#include "models/bigbird_layers.h"
#include "models/block_sparse_attention.h"
#include "models/gelu_new.h"
#include "models/model.h"
#include "models/table.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"

// B batch, T tokens, D width, H heads, C classes, n blocks, R random blocks
namespace headroom {
namespace {

class BigBird final : public Model {
 public:
  BigBird(const BigBirdSize& size, const ModelOptions& options, std::int64_t tokens,
          BigBirdLayers layers, std::vector<Parameter> parameters)
      : Model(std::move(parameters)),
        size_(size),
        options_(options),
        tokens_(tokens),
        bigbird_(std::move(layers)) {
    for (std::size_t i = 0; i < bigbird_.layers.size(); ++i) {
      // No layers for ranks to cut: those with some of the heads would need these heads' random
      // blocks.
      add_block(bigbird_layer_name(i) + ".", {},
                [this, i](const at::Tensor& x) { return run_layer(bigbird_.layers[i], x); });
    }
  }

  Embedded embed(const Batch& batch) override {
    TORCH_CHECK(batch.inputs.size(1) == tokens_, "made for ", tokens_, " tokens");
    const std::int64_t padding = size_.padded(tokens_) - tokens_;
    const at::Tensor ids = padding == 0
                               ? batch.inputs
                               : at::constant_pad_nd(batch.inputs, {0, padding}, kPaddingToken);
    const BigBirdEmbeddings& embeddings = bigbird_.embeddings;
    return {embeddings.layer_norm(drop(embeddings.sum(ids)))};
  }

  at::Tensor token_table() const override { return bigbird_.embeddings.word_embeddings.weight; }

  at::Tensor head(at::Tensor x) override {
    const at::Tensor first = drop(x.select(1, 0));                    // (B, D)
    return bigbird_.out_proj(drop(gelu_new(bigbird_.dense(first))));  // (B, C)
  }

  std::vector<at::Tensor> classifier() const override {
    return {bigbird_.dense.weight, bigbird_.dense.bias, bigbird_.out_proj.weight,
            bigbird_.out_proj.bias};
  }

 private:
  at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, options_.dropout, training_); }

  /// (B, T) with the padding: 1 where a token counts, in the dtype of what transformers is handed,
  /// or, where that is nothing, of what it makes.
  at::Tensor counts(const at::Tensor& x) const {
    const at::Tensor given = mask_.defined()
                                 ? mask_.flatten(1).to(at::kLong)
                                 : at::ones({x.size(0), tokens_}, x.options().dtype(at::kFloat));
    const std::int64_t padding = x.size(1) - tokens_;
    return padding == 0 ? given : at::constant_pad_nd(given, {0, padding});
  }

  /// (B, H, n - 2, R). While it does not train the reference reads block 0, again and again.
  at::Tensor random(const BigBirdLayer& layer, const at::Tensor& x) const {
    const std::int64_t rows = x.size(1) / size_.sparse.block - 2;
    const at::TensorOptions options = x.options().dtype(at::kLong);
    const std::array shape = {std::int64_t{1}, size_.heads, rows, size_.sparse.random};
    const at::Tensor drawn =
        training_ ? at::tensor(layer.random, options).view(shape) : at::zeros(shape, options);
    return drawn.expand({x.size(0), -1, -1, -1}).contiguous();
  }

  /// (B, T, D) -> what attention makes of it, (B, T, D).
  BlockSparseOutput attention(const BigBirdLayer& layer, const at::Tensor& x) const {
    const std::vector<at::Tensor> qkv =
        products_->column_parallel(x, 1, {layer.query, layer.key, layer.value});
    const at::Tensor q = split_heads(qkv[0], size_.head_width());  // (B, H, T, D / H)
    const at::Tensor k = split_heads(qkv[1], size_.head_width());
    const at::Tensor v = split_heads(qkv[2], size_.head_width());
    if (!layer.random.empty()) {
      return attend_block_sparse({.q = q,
                                  .k = k,
                                  .v = v,
                                  .counts = counts(x),
                                  .random = random(layer, x),
                                  .block = size_.sparse.block},
                                 options_.attention == Attention::eager);
    }
    const double dropout = training_ ? options_.dropout : 0.0;
    return {merge_heads(attend(options_.attention, q, k, v, mask_, dropout)), {}};
  }

  at::Tensor run_layer(const BigBirdLayer& layer, const at::Tensor& x) const {
    BlockSparseOutput attended = attention(layer, x);  // its probabilities live up to the end
    at::Tensor y =
        drop(products_->row_parallel(std::exchange(attended.mixed, {}), 1, layer.attention_output));
    y = layer.attention_norm(y + x);  // (B, T, D)
    return layer.output_norm(
        drop(project(layer, products_->column_parallel(y, 1, layer.intermediate))) + y);
  }

  at::Tensor project(const BigBirdLayer& layer, at::Tensor hidden) const {  // (B, T, D)
    return second_half_(std::move(hidden), /*held=*/{}, gelu_new,
                        [this, &layer](const at::Tensor& y) {
                          return products_->row_parallel(y, 1, layer.output);
                        });
  }

  BigBirdSize size_;
  ModelOptions options_;
  std::int64_t tokens_;  // of every batch
  BigBirdLayers bigbird_;
};

/// Kernels know nothing of blocks.
void check_attention(const ModelOptions& options, const BigBirdSize& size, std::int64_t tokens) {
  if (!size.attends_by_blocks(tokens) || options.attention == Attention::automatic ||
      options.attention == Attention::eager) {
    return;
  }
  throw Unsupported(
      options.name + " attends by blocks to more than " + std::to_string(size.sparse.most_full()) +
      " tokens, which no kernel does: " + "attention can be automatic or eager, not '" +
      std::string(enum_name(options.attention)) + "'");
}

/// BigBird with a classifier. Source: transformers' BigBirdForSequenceClassification, its names,
/// initial values and operations; Zaheer et al. 2020, arXiv:2007.14062. `dropout` stands for
/// hidden_dropout_prob and attention_probs_dropout_prob, which the reference applies to no
/// probability of blocks.
///
/// As there, texts of up to most_full() tokens are attended to in full, by options.attention;
/// longer ones by blocks, padded to a multiple of the block. `automatic` then runs what
/// transformers ran up to 5.0 at least; `eager` what 5.23 does, which also puts together all (T, T)
/// probabilities. Backward of one batch must end before the next batch's forward: the blocks share
/// its mask. Throws ConfigError for more tokens than it has positions, Unsupported for another
/// attention.
template <BigBirdSize size>
std::unique_ptr<Model> make_bigbird(const ModelOptions& options, const InputShape& shape,
                                    ParameterFactory parameters) {
  check_positions(options, shape, size.sparse.positions);
  check_attention(options, size, shape.sequence_length);
  BigBirdLayers layers(parameters, size, shape.sequence_length, options.num_classes);
  return std::make_unique<BigBird>(size, options, shape.sequence_length, std::move(layers),
                                   parameters.take());
}

constexpr BigBirdSize kBigBirdMini{.width = 64,
                                   .layers = 4,
                                   .heads = 2,
                                   .intermediate = 256,
                                   .sparse = {.block = 8, .random = 3, .positions = 1024}};
constexpr BigBirdSize kBigBirdRobertaBase{.width = 768,
                                          .layers = 12,
                                          .heads = 12,
                                          .intermediate = 3072,
                                          .sparse = {.block = 64, .random = 3, .positions = 4096}};

constexpr std::array kBigBirdModels = {
    ModelEntry{.name = "bigbird_mini",
               .summary = "BigBird, mini: 4 layers of width 64, blocks of 8 tokens",
               .input = InputKind::text,
               .make = make_bigbird<kBigBirdMini>,
               .vocabulary = kBigBirdVocabulary,
               .names_layers = false,
               .draws_on_host = true},
    ModelEntry{.name = "bigbird_roberta_base",
               .summary = "BigBird, base: 12 layers of width 768, blocks of 64 tokens",
               .input = InputKind::text,
               .make = make_bigbird<kBigBirdRobertaBase>,
               .vocabulary = kBigBirdVocabulary,
               .names_layers = false,
               .draws_on_host = true},
};

}  // namespace

std::span<const ModelEntry> bigbird_models() { return kBigBirdModels; }

}  // namespace headroom
