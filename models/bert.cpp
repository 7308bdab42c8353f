// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

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

/// What tells one BERT from another. The feed-forward layer is four times as wide as the rest.
struct BertSize {
  std::int64_t layers;
  std::int64_t width;  // D
  std::int64_t heads;  // H

  std::int64_t head_width() const { return width / heads; }
};

std::string bert_layer_name(std::size_t index) {
  return "bert.encoder.layer." + std::to_string(index);
}

struct BertEmbeddings {
  Embedding word_embeddings;        // (V, D)
  Embedding position_embeddings;    // (512, D)
  Embedding token_type_embeddings;  // (2, D)
  LayerNorm layer_norm;

  BertEmbeddings(ParameterFactory& parameters, const std::string& name, std::int64_t width)
      : word_embeddings(normal_embedding(parameters, name + ".word_embeddings",
                                         {kBertVocabulary, width}, kPaddingToken)),
        position_embeddings(
            normal_embedding(parameters, name + ".position_embeddings", {kBertPositions, width})),
        token_type_embeddings(
            normal_embedding(parameters, name + ".token_type_embeddings", {2, width})),
        layer_norm(parameters, name + ".LayerNorm", width, kBertEpsilon) {}

  at::Tensor operator()(const at::Tensor& ids) const {  // (B, T) -> (B, T, D)
    // All tokens are of type 0: there is one sentence.
    at::Tensor x = word_embeddings(ids) + token_type_embeddings(at::zeros_like(ids));
    x = x + position_embeddings(position_ids(ids));
    return layer_norm(x);
  }
};

struct BertLayer {
  Linear query, key, value;  // (D, D)
  Linear attention_output;   // (D, D)
  LayerNorm attention_norm;
  Linear intermediate;  // (4 D, D)
  Linear output;        // (D, 4 D)
  LayerNorm output_norm;

  BertLayer(ParameterFactory& parameters, const std::string& name, const BertSize& size)
      : query(normal_linear(parameters, name + ".attention.self.query", size.width, size.width)),
        key(normal_linear(parameters, name + ".attention.self.key", size.width, size.width)),
        value(normal_linear(parameters, name + ".attention.self.value", size.width, size.width)),
        attention_output(
            normal_linear(parameters, name + ".attention.output.dense", size.width, size.width)),
        attention_norm(parameters, name + ".attention.output.LayerNorm", size.width, kBertEpsilon),
        intermediate(
            normal_linear(parameters, name + ".intermediate.dense", size.width, 4 * size.width)),
        output(normal_linear(parameters, name + ".output.dense", 4 * size.width, size.width)),
        output_norm(parameters, name + ".output.LayerNorm", size.width, kBertEpsilon) {}

  std::vector<ParallelLinear> parallel_layers(std::int64_t head_width) const {
    using Style = ParallelLinear::Style;
    return {{query, Style::column, head_width}, {key, Style::column, head_width},
            {value, Style::column, head_width}, {attention_output, Style::row, head_width},
            {intermediate, Style::column},      {output, Style::row}};
  }
};

struct BertLayers {
  BertEmbeddings embeddings;
  std::vector<BertLayer> layers;
  Linear pooler;      // (D, D)
  Linear classifier;  // (C, D)

  BertLayers(ParameterFactory& parameters, const BertSize& size, std::int64_t classes)
      : embeddings(parameters, "bert.embeddings", size.width),
        layers(make_layers(parameters, size)),
        pooler(normal_linear(parameters, "bert.pooler.dense", size.width, size.width)),
        classifier(normal_linear(parameters, "classifier", size.width, classes)) {}

 private:
  static std::vector<BertLayer> make_layers(ParameterFactory& parameters, const BertSize& size) {
    std::vector<BertLayer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, bert_layer_name(made.size()), size);
    }
    return made;
  }
};

class Bert final : public Model {
 public:
  Bert(const BertSize& size, const ModelOptions& options, BertLayers layers,
       std::vector<Parameter> parameters)
      : Model(std::move(parameters)), size_(size), options_(options), bert_(std::move(layers)) {
    for (std::size_t i = 0; i < bert_.layers.size(); ++i) {
      add_block(bert_layer_name(i) + ".", bert_.layers[i].parallel_layers(size_.head_width()),
                [this, i](const at::Tensor& x) { return run_layer(bert_.layers[i], x); });
    }
  }

  Embedded embed(const Batch& batch) override { return {drop(bert_.embeddings(batch.inputs))}; }

  at::Tensor token_table() const override { return bert_.embeddings.word_embeddings.weight; }

  at::Tensor head(at::Tensor x) override {
    const at::Tensor pooled = at::tanh(bert_.pooler(x.select(1, 0)));  // (B, D)
    return bert_.classifier(drop(pooled));                             // (B, C)
  }

  std::vector<at::Tensor> classifier() const override {
    return {bert_.classifier.weight, bert_.classifier.bias};
  }

 private:
  at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, options_.dropout, training_); }

  at::Tensor attention(const BertLayer& layer, const at::Tensor& x) const {
    const std::vector<at::Tensor> qkv =
        products_->column_parallel(x, 1, {layer.query, layer.key, layer.value});
    const at::Tensor q = split_heads(qkv[0], size_.head_width());  // (B, H, T, D / H)
    const at::Tensor k = split_heads(qkv[1], size_.head_width());
    const at::Tensor v = split_heads(qkv[2], size_.head_width());
    const double dropout = training_ ? options_.dropout : 0.0;
    return merge_heads(attend(options_.attention, q, k, v, mask_, dropout));  // (B, T, D)
  }

  at::Tensor run_layer(const BertLayer& layer, const at::Tensor& x) const {
    at::Tensor y = drop(products_->row_parallel(attention(layer, x), 1, layer.attention_output));
    y = layer.attention_norm(y + x);  // (B, T, D)
    return layer.output_norm(
        drop(project(layer, products_->column_parallel(y, 1, layer.intermediate))) + y);
  }

  at::Tensor project(const BertLayer& layer, at::Tensor hidden) const {  // (B, T, D)
    return second_half_(
        std::move(hidden), /*held=*/{}, [](const at::Tensor& h) { return at::gelu(h); },
        [this, &layer](const at::Tensor& y) {
          return products_->row_parallel(y, 1, layer.output);
        });
  }

  BertSize size_;
  ModelOptions options_;
  BertLayers bert_;
};

/// BERT with a classifier, uncased vocabulary. Source: transformers'
/// BertForSequenceClassification, its names, initial values and operations; Devlin et al. 2019,
/// arXiv:1810.04805. `dropout` stands for hidden_dropout_prob and attention_probs_dropout_prob.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more than 512 tokens.
template <BertSize named>
std::unique_ptr<Model> make_bert(const ModelOptions& options, const InputShape& shape,
                                 ParameterFactory parameters) {
  const BertSize size = sized(named, options);
  check_positions(options, shape, kBertPositions);
  BertLayers layers(parameters, size, options.num_classes);
  return std::make_unique<Bert>(size, options, std::move(layers), parameters.take());
}

constexpr BertSize kBertMini{.layers = 4, .width = 256, .heads = 4};
constexpr BertSize kBertBase{.layers = 12, .width = 768, .heads = 12};
constexpr BertSize kBertLarge{.layers = 24, .width = 1024, .heads = 16};

constexpr std::array kBertModels = {
    ModelEntry{.name = "bert_mini",
               .summary = "BERT, mini: 4 layers of width 256",
               .input = InputKind::text,
               .make = make_bert<kBertMini>,
               .vocabulary = kBertVocabulary,
               .takes_size = true},
    ModelEntry{.name = "bert_base",
               .summary = "BERT, base: 12 layers of width 768",
               .input = InputKind::text,
               .make = make_bert<kBertBase>,
               .vocabulary = kBertVocabulary,
               .takes_size = true},
    ModelEntry{.name = "bert_large",
               .summary = "BERT, large: 24 layers of width 1024",
               .input = InputKind::text,
               .make = make_bert<kBertLarge>,
               .vocabulary = kBertVocabulary,
               .takes_size = true},
};

}  // namespace

std::span<const ModelEntry> bert_models() { return kBertModels; }

}  // namespace headroom
