// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/attention.h"
#include "models/gelu_new.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/table.h"

// B batch, T tokens, D width, H heads, V vocabulary
namespace headroom {
namespace {

/// What tells one GPT-2 from another. The MLP is four times as wide as the rest.
struct Gpt2Size {
  std::int64_t layers;
  std::int64_t width;  // D
  std::int64_t heads;  // H
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;

  std::int64_t head_width() const { return width / heads; }
};

constexpr double kGpt2Epsilon = 1e-5;

std::string gpt2_layer_name(std::size_t index) { return "transformer.h." + std::to_string(index); }

/// transformers' Conv1D: a linear layer that keeps its weight transposed, as (in, out).
Linear conv1d(ParameterFactory& parameters, const std::string& name, std::int64_t in,
              std::int64_t out, double stddev = kInitializerRange) {
  at::Tensor weight = parameters.normal(name + ".weight", {in, out}, stddev);
  return {.weight = weight, .bias = parameters.constant(name + ".bias", {out}, 0.0)};
}

/// As x is multiplied by it.
Linear upright(const Linear& conv1d) { return {.weight = conv1d.weight.t(), .bias = conv1d.bias}; }

struct Gpt2Layer {
  LayerNorm ln_1;
  Linear c_attn;       // (D, 3 D)
  Linear attn_c_proj;  // (D, D)
  LayerNorm ln_2;
  Linear c_fc;        // (D, 4 D)
  Linear mlp_c_proj;  // (4 D, D)

  Gpt2Layer(ParameterFactory& parameters, const std::string& name, const Gpt2Size& size)
      : ln_1(parameters, name + ".ln_1", size.width, kGpt2Epsilon),
        c_attn(conv1d(parameters, name + ".attn.c_attn", size.width, 3 * size.width)),
        attn_c_proj(
            conv1d(parameters, name + ".attn.c_proj", size.width, size.width, residual(size))),
        ln_2(parameters, name + ".ln_2", size.width, kGpt2Epsilon),
        c_fc(conv1d(parameters, name + ".mlp.c_fc", size.width, 4 * size.width)),
        mlp_c_proj(
            conv1d(parameters, name + ".mlp.c_proj", 4 * size.width, size.width, residual(size))) {}

  std::vector<ParallelLinear> parallel_layers(std::int64_t head_width) const {
    using Style = ParallelLinear::Style;
    return {
        {.linear = c_attn,
         .style = Style::column,
         .group = head_width,
         .sections = 3,
         .keeps_transposed = true},
        {.linear = attn_c_proj, .style = Style::row, .group = head_width, .keeps_transposed = true},
        {.linear = c_fc, .style = Style::column, .keeps_transposed = true},
        {.linear = mlp_c_proj, .style = Style::row, .keeps_transposed = true}};
  }

 private:
  /// Two projections a layer add to the residual stream.
  static double residual(const Gpt2Size& size) {
    return kInitializerRange / std::sqrt(2.0 * static_cast<double>(size.layers));
  }
};

struct Gpt2Layers {
  Embedding wte;  // (V, D), also the head
  Embedding wpe;  // (positions, D)
  std::vector<Gpt2Layer> layers;
  LayerNorm ln_f;

  Gpt2Layers(ParameterFactory& parameters, const Gpt2Size& size)
      : wte(normal_embedding(parameters, "transformer.wte", {size.vocabulary, size.width})),
        wpe(normal_embedding(parameters, "transformer.wpe", {size.positions, size.width})),
        layers(make_layers(parameters, size)),
        ln_f(parameters, "transformer.ln_f", size.width, kGpt2Epsilon) {}

 private:
  static std::vector<Gpt2Layer> make_layers(ParameterFactory& parameters, const Gpt2Size& size) {
    std::vector<Gpt2Layer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, gpt2_layer_name(made.size()), size);
    }
    return made;
  }
};

class Gpt2 final : public Model {
 public:
  Gpt2(const Gpt2Size& size, const ModelOptions& options, Gpt2Layers layers,
       std::vector<Parameter> parameters)
      : Model(std::move(parameters)), size_(size), options_(options), gpt2_(std::move(layers)) {
    for (std::size_t i = 0; i < gpt2_.layers.size(); ++i) {
      add_block(gpt2_layer_name(i) + ".", gpt2_.layers[i].parallel_layers(size_.head_width()),
                [this, i](const at::Tensor& x) { return run_layer(gpt2_.layers[i], x); });
    }
  }

  /// The next token of each; behind the last there is none.
  at::Tensor targets(const Batch& batch) const override {  // (B, T)
    return at::constant_pad_nd(batch.inputs, {0, 1}, kNoTarget).narrow(1, 1, batch.inputs.size(1));
  }

  Embedded embed(const Batch& batch) override {
    const at::Tensor x = gpt2_.wte(batch.inputs) + gpt2_.wpe(position_ids(batch.inputs));
    return {.x = drop(x), .held = {x}};
  }

  at::Tensor head(at::Tensor x) override {
    return at::linear(gpt2_.ln_f(x), gpt2_.wte.weight);  // (B, T, V)
  }

 private:
  at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, options_.dropout, training_); }

  at::Tensor attention(const Gpt2Layer& layer, const at::Tensor& x) const {
    const std::vector<at::Tensor> qkv =
        products_->column_parallel(x, 1, upright(layer.c_attn)).chunk(3, 2);
    const at::Tensor q = split_heads(qkv[0], size_.head_width());  // (B, H, T, D / H)
    const at::Tensor k = split_heads(qkv[1], size_.head_width());
    const at::Tensor v = split_heads(qkv[2], size_.head_width());
    const double dropout = training_ ? options_.dropout : 0.0;
    return merge_heads(attend_to_past(options_.attention, q, k, v, mask_, dropout));  // (B, T, D)
  }

  at::Tensor run_layer(const Gpt2Layer& layer, const at::Tensor& input) const {
    const at::Tensor mixed = attention(layer, layer.ln_1(input));
    const at::Tensor x =
        drop(products_->row_parallel(mixed, 1, upright(layer.attn_c_proj))) + input;  // (B, T, D)
    at::Tensor y = layer.ln_2(x);
    at::Tensor hidden = products_->column_parallel(y, 1, upright(layer.c_fc));  // (B, T, 4 D)
    return x + drop(project(layer, std::move(hidden), std::move(y)));
  }

  /// (B, T, D); `normalised` is what `hidden` was made of.
  at::Tensor project(const Gpt2Layer& layer, at::Tensor hidden, at::Tensor normalised) const {
    return second_half_(std::move(hidden), std::move(normalised), gelu_new,
                        [this, &layer](const at::Tensor& y) {
                          return products_->row_parallel(y, 1, upright(layer.mlp_c_proj));
                        });
  }

  Gpt2Size size_;
  ModelOptions options_;
  Gpt2Layers gpt2_;
};

/// GPT-2 with a head for the next token, which shares the weights of the tokens' embedding. Source:
/// transformers' GPT2LMHeadModel, its names, initial values and operations; Radford et al. 2019,
/// "Language models are unsupervised multitask learners". Its logits are (B, T, V). `dropout`
/// stands for embd_pdrop, attn_pdrop and resid_pdrop; `num_classes` says nothing here.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more tokens than it has positions.
template <Gpt2Size named>
std::unique_ptr<Model> make_gpt2(const ModelOptions& options, const InputShape& shape,
                                 ParameterFactory parameters) {
  const Gpt2Size size = sized(named, options);
  check_positions(options, shape, size.positions);
  Gpt2Layers layers(parameters, size);
  return std::make_unique<Gpt2>(size, options, std::move(layers), parameters.take());
}

constexpr Gpt2Size kGpt2Mini{.layers = 4, .width = 256, .heads = 4};
constexpr Gpt2Size kGpt2{.layers = 12, .width = 768, .heads = 12};
constexpr Gpt2Size kGpt2Xl{.layers = 48, .width = 1600, .heads = 25};
/// 7,467,786,240 parameters: the 7.5B of Narayanan et al. 2021, arXiv:2104.04473, table 1.
constexpr Gpt2Size kGpt2_7_5B{
    .layers = 36, .width = 4096, .heads = 32, .vocabulary = 51200, .positions = 2048};

constexpr std::array kGpt2Models = {
    ModelEntry{.name = "gpt2_mini",
               .summary = "GPT-2, mini: 4 layers of width 256; tells the next token",
               .input = InputKind::text,
               .make = make_gpt2<kGpt2Mini>,
               .vocabulary = kGpt2Mini.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
    ModelEntry{.name = "gpt2",
               .summary = "GPT-2: 12 layers of width 768; tells the next token",
               .input = InputKind::text,
               .make = make_gpt2<kGpt2>,
               .vocabulary = kGpt2.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
    ModelEntry{.name = "gpt2_xl",
               .summary = "GPT-2, XL: 48 layers of width 1600; tells the next token",
               .input = InputKind::text,
               .make = make_gpt2<kGpt2Xl>,
               .vocabulary = kGpt2Xl.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
    ModelEntry{.name = "gpt2_7_5b",
               .summary = "GPT-2's shape at 7.5e9 parameters: 36 layers of width 4096",
               .input = InputKind::text,
               .make = make_gpt2<kGpt2_7_5B>,
               .vocabulary = kGpt2_7_5B.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
};

}  // namespace

std::span<const ModelEntry> gpt2_models() { return kGpt2Models; }

}  // namespace headroom
