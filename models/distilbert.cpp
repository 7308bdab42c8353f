// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/attention.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/table.h"

// B batch, T tokens, D width, H heads, C classes, V vocabulary
namespace headroom {
namespace {

/// The feed-forward layer is four times as wide as the rest.
struct DistilBertSize {
  std::int64_t layers;
  std::int64_t width;  // D
  std::int64_t heads;  // H

  std::int64_t head_width() const { return width / heads; }
};

std::string distilbert_layer_name(std::size_t index) {
  return "distilbert.transformer.layer." + std::to_string(index);
}

struct DistilBertEmbeddings {
  Embedding word_embeddings;      // (V, D)
  Embedding position_embeddings;  // (512, D)
  LayerNorm layer_norm;

  DistilBertEmbeddings(ParameterFactory& parameters, const std::string& name, std::int64_t width)
      : word_embeddings(normal_embedding(parameters, name + ".word_embeddings",
                                         {kBertVocabulary, width}, kPaddingToken)),
        position_embeddings(
            normal_embedding(parameters, name + ".position_embeddings", {kBertPositions, width})),
        layer_norm(parameters, name + ".LayerNorm", width, kBertEpsilon) {}

  at::Tensor operator()(const at::Tensor& ids) const {  // (B, T) -> (B, T, D)
    return layer_norm(word_embeddings(ids) + position_embeddings(position_ids(ids)));
  }
};

struct DistilBertLayer {
  Linear q_lin, k_lin, v_lin, out_lin;  // (D, D)
  LayerNorm sa_layer_norm;
  Linear lin1;  // (4 D, D)
  Linear lin2;  // (D, 4 D)
  LayerNorm output_layer_norm;

  DistilBertLayer(ParameterFactory& parameters, const std::string& name, std::int64_t width)
      : q_lin(normal_linear(parameters, name + ".attention.q_lin", width, width)),
        k_lin(normal_linear(parameters, name + ".attention.k_lin", width, width)),
        v_lin(normal_linear(parameters, name + ".attention.v_lin", width, width)),
        out_lin(normal_linear(parameters, name + ".attention.out_lin", width, width)),
        sa_layer_norm(parameters, name + ".sa_layer_norm", width, kBertEpsilon),
        lin1(normal_linear(parameters, name + ".ffn.lin1", width, 4 * width)),
        lin2(normal_linear(parameters, name + ".ffn.lin2", 4 * width, width)),
        output_layer_norm(parameters, name + ".output_layer_norm", width, kBertEpsilon) {}

  std::vector<ParallelLinear> parallel_layers(std::int64_t head_width) const {
    using Style = ParallelLinear::Style;
    return {{q_lin, Style::column, head_width},
            {k_lin, Style::column, head_width},
            {v_lin, Style::column, head_width},
            {out_lin, Style::row, head_width},
            {lin1, Style::column},
            {lin2, Style::row}};
  }
};

struct DistilBertLayers {
  DistilBertEmbeddings embeddings;
  std::vector<DistilBertLayer> layers;
  Linear pre_classifier;  // (D, D)
  Linear classifier;      // (C, D)

  DistilBertLayers(ParameterFactory& parameters, const DistilBertSize& size, std::int64_t classes)
      : embeddings(parameters, "distilbert.embeddings", size.width),
        layers(make_layers(parameters, size)),
        pre_classifier(normal_linear(parameters, "pre_classifier", size.width, size.width)),
        classifier(normal_linear(parameters, "classifier", size.width, classes)) {}

 private:
  static std::vector<DistilBertLayer> make_layers(ParameterFactory& parameters,
                                                  const DistilBertSize& size) {
    std::vector<DistilBertLayer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, distilbert_layer_name(made.size()), size.width);
    }
    return made;
  }
};

class DistilBert final : public Model {
 public:
  DistilBert(const DistilBertSize& size, const ModelOptions& options, DistilBertLayers layers,
             std::vector<Parameter> parameters)
      : Model(std::move(parameters)),
        size_(size),
        options_(options),
        distilbert_(std::move(layers)) {
    for (std::size_t i = 0; i < distilbert_.layers.size(); ++i) {
      add_block(distilbert_layer_name(i) + ".",
                distilbert_.layers[i].parallel_layers(size_.head_width()),
                [this, i](const at::Tensor& x) { return run_layer(distilbert_.layers[i], x); });
    }
  }

  Embedded embed(const Batch& batch) override {
    return {drop(distilbert_.embeddings(batch.inputs))};
  }

  at::Tensor token_table() const override { return distilbert_.embeddings.word_embeddings.weight; }

  at::Tensor head(at::Tensor x) override {
    const at::Tensor pooled = at::relu(distilbert_.pre_classifier(x.select(1, 0)));  // (B, D)
    return distilbert_.classifier(drop(pooled));                                     // (B, C)
  }

  std::vector<at::Tensor> classifier() const override {
    return {distilbert_.classifier.weight, distilbert_.classifier.bias};
  }

 private:
  at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, options_.dropout, training_); }

  at::Tensor attention(const DistilBertLayer& layer, const at::Tensor& x) const {
    const std::vector<at::Tensor> qkv =
        products_->column_parallel(x, 1, {layer.q_lin, layer.k_lin, layer.v_lin});
    const at::Tensor q = split_heads(qkv[0], size_.head_width());  // (B, H, T, D / H)
    const at::Tensor k = split_heads(qkv[1], size_.head_width());
    const at::Tensor v = split_heads(qkv[2], size_.head_width());
    const double dropout = training_ ? options_.dropout : 0.0;
    return products_->row_parallel(merge_heads(attend(options_.attention, q, k, v, mask_, dropout)),
                                   1, layer.out_lin);
  }

  at::Tensor run_layer(const DistilBertLayer& layer, const at::Tensor& x) const {
    const at::Tensor y = layer.sa_layer_norm(attention(layer, x) + x);  // (B, T, D)
    return layer.output_layer_norm(
        drop(project(layer, products_->column_parallel(y, 1, layer.lin1))) + y);
  }

  at::Tensor project(const DistilBertLayer& layer, at::Tensor hidden) const {  // (B, T, D)
    return second_half_(
        std::move(hidden), /*held=*/{}, [](const at::Tensor& h) { return at::gelu(h); },
        [this, &layer](const at::Tensor& y) { return products_->row_parallel(y, 1, layer.lin2); });
  }

  DistilBertSize size_;
  ModelOptions options_;
  DistilBertLayers distilbert_;
};

/// DistilBERT with a classifier, uncased vocabulary. Source: transformers'
/// DistilBertForSequenceClassification, its names, initial values and operations; Sanh et al. 2019,
/// arXiv:1910.01108. `dropout` stands for dropout, attention_dropout and seq_classif_dropout.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more than 512 tokens.
template <DistilBertSize named>
std::unique_ptr<Model> make_distilbert(const ModelOptions& options, const InputShape& shape,
                                       ParameterFactory parameters) {
  const DistilBertSize size = sized(named, options);
  check_positions(options, shape, kBertPositions);
  DistilBertLayers layers(parameters, size, options.num_classes);
  return std::make_unique<DistilBert>(size, options, std::move(layers), parameters.take());
}

constexpr DistilBertSize kDistilBert{.layers = 6, .width = 768, .heads = 12};

constexpr std::array kDistilBertModels = {
    ModelEntry{.name = "distilbert",
               .summary = "DistilBERT: 6 layers of width 768",
               .input = InputKind::text,
               .make = make_distilbert<kDistilBert>,
               .vocabulary = kBertVocabulary,
               .takes_size = true},
};

}  // namespace

std::span<const ModelEntry> distilbert_models() { return kDistilBertModels; }

}  // namespace headroom
