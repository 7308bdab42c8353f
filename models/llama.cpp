// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/attention.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/rotary.h"
#include "models/table.h"
#include "src/core/error.h"

// B batch, T tokens, D width, H heads of queries, G heads of keys and of values, V vocabulary
namespace headroom {
namespace {

/// What tells one Llama from another. The MLP is four times as wide as the rest, as that of
/// Llama 3.2 1B.
struct LlamaSize {
  std::int64_t layers;
  std::int64_t width;               // D
  std::int64_t heads;               // H
  std::int64_t queries_a_key_head;  // H / G
  std::int64_t vocabulary;

  std::int64_t head_width() const { return width / heads; }
  std::int64_t key_width() const { return width / queries_a_key_head; }  // of all G
};

// Of Llama 3.2 1B.
constexpr double kLlamaEpsilon = 1e-5;
constexpr std::int64_t kLlamaPositions = 131'072;
constexpr RotaryScaling kLlamaScaling{.theta = 500'000.0,
                                      .factor = 32.0,
                                      .low_frequency_factor = 1.0,
                                      .high_frequency_factor = 4.0,
                                      .trained_positions = 8192.0};

std::string llama_layer_name(std::size_t index) { return "model.layers." + std::to_string(index); }

/// x over its root mean square, in float32 or wider; each operation by itself, as LlamaRMSNorm runs
/// it: one kernel for it all would keep less for backward.
struct RmsNorm {
  at::Tensor weight;  // (D), made as ones

  RmsNorm(ParameterFactory& parameters, const std::string& name, std::int64_t width)
      : weight(parameters.constant(name + ".weight", {width}, 1.0)) {}

  at::Tensor operator()(const at::Tensor& input) const {
    const at::Tensor x = input.element_size() < 4 ? input.to(at::kFloat) : input;
    const at::Tensor variance = x.pow(2).mean(-1, /*keepdim=*/true);
    return weight * (x * at::rsqrt(variance + kLlamaEpsilon)).to(input.scalar_type());
  }
};

struct LlamaLayer {
  Linear q_proj;          // (D, D)
  Linear k_proj, v_proj;  // (D G / H, D)
  Linear o_proj;          // (D, D)
  Linear gate_proj;       // (4 D, D)
  Linear up_proj;         // (4 D, D)
  Linear down_proj;       // (D, 4 D)
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;

  LlamaLayer(ParameterFactory& parameters, const std::string& name, const LlamaSize& size)
      : q_proj(unbiased_linear(parameters, name + ".self_attn.q_proj", size.width, size.width)),
        k_proj(
            unbiased_linear(parameters, name + ".self_attn.k_proj", size.width, size.key_width())),
        v_proj(
            unbiased_linear(parameters, name + ".self_attn.v_proj", size.width, size.key_width())),
        o_proj(unbiased_linear(parameters, name + ".self_attn.o_proj", size.width, size.width)),
        gate_proj(unbiased_linear(parameters, name + ".mlp.gate_proj", size.width, 4 * size.width)),
        up_proj(unbiased_linear(parameters, name + ".mlp.up_proj", size.width, 4 * size.width)),
        down_proj(unbiased_linear(parameters, name + ".mlp.down_proj", 4 * size.width, size.width)),
        input_layernorm(parameters, name + ".input_layernorm", size.width),
        post_attention_layernorm(parameters, name + ".post_attention_layernorm", size.width) {}

  /// Heads of keys are cut as heads of queries are, so that each rank has those that its own read.
  std::vector<ParallelLinear> parallel_layers(std::int64_t head_width) const {
    using Style = ParallelLinear::Style;
    return {{q_proj, Style::column, head_width},
            {k_proj, Style::column, head_width},
            {v_proj, Style::column, head_width},
            {o_proj, Style::row, head_width},
            {gate_proj, Style::column},
            {up_proj, Style::column},
            {down_proj, Style::row}};
  }
};

struct LlamaLayers {
  Embedding embed_tokens;  // (V, D), also the head
  std::vector<LlamaLayer> layers;
  RmsNorm norm;

  LlamaLayers(ParameterFactory& parameters, const LlamaSize& size)
      : embed_tokens(
            normal_embedding(parameters, "model.embed_tokens", {size.vocabulary, size.width})),
        layers(make_layers(parameters, size)),
        norm(parameters, "model.norm", size.width) {}

 private:
  static std::vector<LlamaLayer> make_layers(ParameterFactory& parameters, const LlamaSize& size) {
    std::vector<LlamaLayer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, llama_layer_name(made.size()), size);
    }
    return made;
  }
};

class Llama final : public Model {
 public:
  Llama(const LlamaSize& size, const ModelOptions& options, LlamaLayers layers,
        std::vector<Parameter> parameters)
      : Model(std::move(parameters)),
        size_(size),
        options_(options),
        rotary_(kLlamaScaling, size.head_width()),
        llama_(std::move(layers)) {
    for (std::size_t i = 0; i < llama_.layers.size(); ++i) {
      add_block(llama_layer_name(i) + ".", llama_.layers[i].parallel_layers(size_.head_width()),
                [this, i](const at::Tensor& x) { return run_layer(llama_.layers[i], x); });
    }
  }

  /// The next token of each; behind the last there is none.
  at::Tensor targets(const Batch& batch) const override {  // (B, T)
    return at::constant_pad_nd(batch.inputs, {0, 1}, kNoTarget).narrow(1, 1, batch.inputs.size(1));
  }

  /// The rotary tables live as long as the graph of x, so that blocks which run again in backward
  /// find them, and no longer: the Python reference holds them as long.
  Embedded embed(const Batch& batch) override {
    const at::Tensor x = llama_.embed_tokens(batch.inputs);
    const auto tables = rotary_.tables(x.size(1), x.options());
    if (x.requires_grad()) x.register_hook([tables](const at::Tensor&) {});
    return {.x = x, .held = {x, tables->cos, tables->sin}};
  }

  at::Tensor head(at::Tensor x) override {
    return at::linear(llama_.norm(x), llama_.embed_tokens.weight);  // (B, T, V)
  }

 private:
  at::Tensor attention(const LlamaLayer& layer, const at::Tensor& x) {
    std::vector<at::Tensor> qkv =
        products_->column_parallel(x, 1, {layer.q_proj, layer.k_proj, layer.v_proj});
    const auto tables = rotary_.tables(qkv[0].size(1), x.options());
    const std::int64_t head_width = size_.head_width();
    const at::Tensor q = rotate(split_heads(qkv[0], head_width), *tables);  // (B, H, T, D / H)
    const at::Tensor k = rotate(split_heads(qkv[1], head_width), *tables);  // (B, G, T, D / H)
    const at::Tensor v = split_heads(qkv[2], head_width);                   // (B, G, T, D / H)
    qkv.clear();  // nobody needs what was turned
    const double dropout = training_ ? options_.dropout : 0.0;
    return merge_heads(attend_to_past(options_.attention, q, k, v, mask_, dropout,
                                      SoftmaxIn::float32));  // (B, T, D)
  }

  at::Tensor run_layer(const LlamaLayer& layer, const at::Tensor& input) {
    const at::Tensor mixed = attention(layer, layer.input_layernorm(input));
    const at::Tensor x = input + products_->row_parallel(mixed, 1, layer.o_proj);  // (B, T, D)
    at::Tensor y = layer.post_attention_layernorm(x);
    std::vector<at::Tensor> gate_and_up =  // twice (B, T, 4 D)
        products_->column_parallel(y, 1, {layer.gate_proj, layer.up_proj});
    return x + project(layer, std::move(gate_and_up), std::move(y));
  }

  /// SwiGLU, Shazeer 2020, arXiv:2002.05202, and what comes behind it: of gate and up to (B, T, D).
  /// `normalised` is what they were made of.
  at::Tensor project(const LlamaLayer& layer, std::vector<at::Tensor> gate_and_up,
                     at::Tensor normalised) const {
    const at::Tensor up = std::move(gate_and_up[1]);
    return second_half_(
        std::move(gate_and_up[0]), std::move(normalised),
        [up](const at::Tensor& gate) { return at::silu(gate) * up; },
        [this, &layer](const at::Tensor& y) {
          return products_->row_parallel(y, 1, layer.down_proj);
        });
  }

  LlamaSize size_;
  ModelOptions options_;
  Rotary rotary_;
  LlamaLayers llama_;
};

/// Throws ConfigError where heads of keys can't serve equally many heads of queries each, or where
/// features of a head don't pair up.
void check_llama(const LlamaSize& size, const ModelOptions& options) {
  if (size.heads % size.queries_a_key_head != 0) {
    throw ConfigError(options.name + ": model.heads must be a multiple of " +
                      std::to_string(size.queries_a_key_head) +
                      ", the heads that share keys and values; it is " +
                      std::to_string(size.heads));
  }
  if (size.head_width() % 2 != 0) {
    throw ConfigError(options.name + " turns pairs of features: heads must be of even width; " +
                      std::to_string(size.width) + " / " + std::to_string(size.heads) + " is " +
                      std::to_string(size.head_width()));
  }
}

/// Llama with a head for the next token, which shares the weights of the tokens' embedding. Source:
/// transformers' LlamaForCausalLM, its names, initial values and operations, in the configuration
/// of Llama 3.2 1B; Touvron et al. 2023, arXiv:2302.13971; Grattafiori et al. 2024,
/// arXiv:2407.21783. Its logits are (B, T, V). `dropout` stands for attention_dropout;
/// `num_classes` says nothing here. Of another width or number of heads, the MLP is four times as
/// wide, and as many heads of queries share one of keys.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more tokens than it has positions, and for sizes that check_llama
/// refuses.
template <LlamaSize named>
std::unique_ptr<Model> make_llama(const ModelOptions& options, const InputShape& shape,
                                  ParameterFactory parameters) {
  const LlamaSize size = sized(named, options);
  check_llama(size, options);
  check_positions(options, shape, kLlamaPositions);
  LlamaLayers layers(parameters, size);
  return std::make_unique<Llama>(size, options, std::move(layers), parameters.take());
}

constexpr LlamaSize kLlamaMini{
    .layers = 4, .width = 256, .heads = 4, .queries_a_key_head = 2, .vocabulary = 32'000};
constexpr LlamaSize kLlama1b{
    .layers = 16, .width = 2048, .heads = 32, .queries_a_key_head = 4, .vocabulary = 128'256};

constexpr std::array kLlamaModels = {
    ModelEntry{.name = "llama_mini",
               .summary = "Llama, mini: 4 layers of width 256; tells the next token",
               .input = InputKind::text,
               .make = make_llama<kLlamaMini>,
               .vocabulary = kLlamaMini.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
    ModelEntry{.name = "llama_1b",
               .summary = "Llama 3.2 1B: 16 layers of width 2048; tells the next token",
               .input = InputKind::text,
               .make = make_llama<kLlama1b>,
               .vocabulary = kLlama1b.vocabulary,
               .tells_tokens = true,
               .takes_size = true},
};

}  // namespace

std::span<const ModelEntry> llama_models() { return kLlamaModels; }

}  // namespace headroom
