// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/attention.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/table.h"
#include "src/core/error.h"

// B batch, T tokens (the class token and one for each patch), D width, H heads, C classes, P patch
namespace headroom {
namespace {

/// What tells one vision transformer from another. The MLP is four times as wide as the rest.
struct VitSize {
  std::int64_t patch;  // pixels, square
  std::int64_t layers;
  std::int64_t heads;  // H
  std::int64_t width;  // D

  std::int64_t head_width() const { return width / heads; }
};

constexpr double kVitEpsilon = 1e-6;

Linear xavier_linear(ParameterFactory& parameters, const std::string& name, std::int64_t in,
                     std::int64_t out) {
  const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
  at::Tensor weight = parameters.uniform(name + ".weight", {out, in}, bound);
  return {.weight = weight, .bias = parameters.normal(name + ".bias", {out}, 1e-6)};
}

/// torch.nn.MultiheadAttention's parameters.
struct SelfAttention {
  Linear in_proj;   // (3 D, D)
  Linear out_proj;  // (D, D)

  SelfAttention(ParameterFactory& parameters, const std::string& name, std::int64_t width) {
    const double d = static_cast<double>(width);
    in_proj.weight = parameters.uniform(name + ".in_proj_weight", {3 * width, width},
                                        std::sqrt(6.0 / (4.0 * d)));
    in_proj.bias = parameters.constant(name + ".in_proj_bias", {3 * width}, 0.0);
    out_proj.weight =
        parameters.uniform(name + ".out_proj.weight", {width, width}, 1.0 / std::sqrt(d));
    out_proj.bias = parameters.constant(name + ".out_proj.bias", {width}, 0.0);
  }

  /// (B, T, D) -> (B, T, D). The operations, copies included, are those of
  /// torch.nn.MultiheadAttention, which works on (T, B, D): they decide what backward keeps.
  at::Tensor operator()(const at::Tensor& x, Attention kind, std::int64_t head_width,
                        BlockProducts& products) const {
    const std::int64_t samples = x.size(0);
    const at::Tensor packed = products
                                  .column_parallel(x.transpose(0, 1), 0, in_proj)  // (T, B, 3 D)
                                  .unflatten(-1, {3, -1})
                                  .unsqueeze(0)
                                  .transpose(0, -2)
                                  .squeeze(-2)
                                  .contiguous();  // (3, T, B, D)
    const std::int64_t tokens = packed.size(1);
    const std::int64_t width = packed.size(3);
    const std::int64_t heads = width / head_width;
    const auto head_major = [&](std::int64_t which) {  // (B, H, T, D / H)
      return packed.select(0, which)
          .view({tokens, samples * heads, head_width})
          .transpose(0, 1)
          .view({samples, heads, tokens, head_width});
    };
    const at::Tensor mixed =
        attend(kind, head_major(0), head_major(1), head_major(2), /*mask=*/{}, /*dropout=*/0.0)
            .permute({2, 0, 1, 3})
            .contiguous()
            .view({tokens * samples, width});
    return products.row_parallel(mixed, 0, out_proj).view({-1, samples, x.size(2)}).transpose(0, 1);
  }
};

struct VitLayer {
  LayerNorm ln_1;
  SelfAttention self_attention;
  LayerNorm ln_2;
  Linear mlp_0;  // (4 D, D)
  Linear mlp_3;  // (D, 4 D)

  VitLayer(ParameterFactory& parameters, const std::string& name, std::int64_t width)
      : ln_1(parameters, name + ".ln_1", width, kVitEpsilon),
        self_attention(parameters, name + ".self_attention", width),
        ln_2(parameters, name + ".ln_2", width, kVitEpsilon),
        mlp_0(xavier_linear(parameters, name + ".mlp.0", width, 4 * width)),
        mlp_3(xavier_linear(parameters, name + ".mlp.3", 4 * width, width)) {}

  std::vector<ParallelLinear> parallel_layers(std::int64_t head_width) const {
    using Style = ParallelLinear::Style;
    return {{self_attention.in_proj, Style::column, head_width, /*sections=*/3},
            {self_attention.out_proj, Style::row, head_width},
            {mlp_0, Style::column},
            {mlp_3, Style::row}};
  }
};

std::string vit_layer_name(std::size_t index) {
  return "encoder.layers.encoder_layer_" + std::to_string(index);
}

struct VitLayers {
  at::Tensor class_token;    // (1, 1, D)
  Linear conv_proj;          // (D, 3, P, P)
  at::Tensor pos_embedding;  // (1, T, D)
  std::vector<VitLayer> layers;
  LayerNorm ln;
  Linear head;  // (C, D)

  VitLayers(ParameterFactory& parameters, const VitSize& size, std::int64_t tokens,
            std::int64_t classes)
      : class_token(parameters.constant("class_token", {1, 1, size.width}, 0.0)),
        conv_proj(make_patches(parameters, size)),
        pos_embedding(parameters.normal("encoder.pos_embedding", {1, tokens, size.width}, 0.02)),
        layers(make_layers(parameters, size)),
        ln(parameters, "encoder.ln", size.width, kVitEpsilon),
        head(make_head(parameters, size.width, classes)) {}

 private:
  /// As torch.nn.Linear starts, and so a head that replaces a pretrained one. (A new ViT of
  /// torchvision's starts with a head of zeros, under which nothing else has a gradient at first.)
  static Linear make_head(ParameterFactory& parameters, std::int64_t width, std::int64_t classes) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(width));
    at::Tensor weight = parameters.uniform("heads.head.weight", {classes, width}, bound);
    return {.weight = weight, .bias = parameters.uniform("heads.head.bias", {classes}, bound)};
  }

  static Linear make_patches(ParameterFactory& parameters, const VitSize& size) {
    const double fan_in = 3.0 * static_cast<double>(size.patch * size.patch);
    at::Tensor weight = parameters.normal(
        "conv_proj.weight", {size.width, 3, size.patch, size.patch}, std::sqrt(1.0 / fan_in));
    return {.weight = weight, .bias = parameters.constant("conv_proj.bias", {size.width}, 0.0)};
  }

  static std::vector<VitLayer> make_layers(ParameterFactory& parameters, const VitSize& size) {
    std::vector<VitLayer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, vit_layer_name(made.size()), size.width);
    }
    return made;
  }
};

class Vit final : public Model {
 public:
  Vit(const VitSize& size, const ModelOptions& options, VitLayers layers,
      std::vector<Parameter> parameters)
      : Model(std::move(parameters)), size_(size), options_(options), vit_(std::move(layers)) {
    for (std::size_t i = 0; i < vit_.layers.size(); ++i) {
      add_block(vit_layer_name(i) + ".", vit_.layers[i].parallel_layers(size_.head_width()),
                [this, i](const at::Tensor& x) { return run_layer(vit_.layers[i], x); });
    }
  }

  Embedded embed(const Batch& batch) override {
    at::Tensor x = patches(batch.inputs);                               // (B, T - 1, D)
    x = at::cat({vit_.class_token.expand({x.size(0), -1, -1}), x}, 1);  // (B, T, D)
    return {.x = drop(x + vit_.pos_embedding), .held = {x}};
  }

  at::Tensor head(at::Tensor x) override {
    x = vit_.ln(x);
    return vit_.head(x.select(1, 0));  // (B, C)
  }

  std::vector<at::Tensor> classifier() const override { return {vit_.head.weight, vit_.head.bias}; }

 private:
  at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, options_.dropout, training_); }

  at::Tensor patches(const at::Tensor& images) const {  // (B, 3, H, W) -> (B, T - 1, D)
    const Linear& projection = vit_.conv_proj;
    const at::Tensor x = at::conv2d(images.to(projection.weight.scalar_type()), projection.weight,
                                    projection.bias, {size_.patch, size_.patch});
    return x.reshape({x.size(0), x.size(1), -1}).permute({0, 2, 1});
  }

  at::Tensor run_layer(const VitLayer& layer, const at::Tensor& input) const {
    at::Tensor x =
        layer.self_attention(layer.ln_1(input), options_.attention, size_.head_width(), *products_);
    x = drop(x) + input;  // (B, T, D)
    at::Tensor y = layer.ln_2(x);
    at::Tensor hidden = products_->column_parallel(y, 1, layer.mlp_0);  // (B, T, 4 D)
    y = drop(project(layer, std::move(hidden), std::move(y)));
    return x + y;
  }

  /// (B, T, D); `normalised` is what `hidden` was made of.
  at::Tensor project(const VitLayer& layer, at::Tensor hidden, at::Tensor normalised) const {
    return second_half_(
        std::move(hidden), std::move(normalised),
        [this](const at::Tensor& h) { return drop(at::gelu(h)); },
        [this, &layer](const at::Tensor& y) { return products_->row_parallel(y, 1, layer.mlp_3); });
  }

  VitSize size_;
  ModelOptions options_;
  VitLayers vit_;
};

/// Vision transformer. Source: torchvision.models.VisionTransformer 0.26, its names, initial values
/// and operations; Dosovitskiy et al. 2021, arXiv:2010.11929.
/// Throws ConfigError where the image size is no multiple of the patch.
template <VitSize named>
std::unique_ptr<Model> make_vit(const ModelOptions& options, const InputShape& shape,
                                ParameterFactory parameters) {
  const VitSize size = sized(named, options);
  if (shape.image_size <= 0 || shape.image_size % size.patch != 0) {
    throw ConfigError(options.name + " needs an image size that is a multiple of its patch, " +
                      std::to_string(size.patch) + " pixels; it is " +
                      std::to_string(shape.image_size));
  }
  const std::int64_t side = shape.image_size / size.patch;
  VitLayers layers(parameters, size, side * side + 1, options.num_classes);
  return std::make_unique<Vit>(size, options, std::move(layers), parameters.take());
}

// As small as test_vit of timm, for tests.
constexpr VitSize kVitMini{.patch = 16, .layers = 6, .heads = 2, .width = 64};
constexpr VitSize kVitTi16{.patch = 16, .layers = 12, .heads = 3, .width = 192};
constexpr VitSize kVitS16{.patch = 16, .layers = 12, .heads = 6, .width = 384};
constexpr VitSize kVitB16{.patch = 16, .layers = 12, .heads = 12, .width = 768};
constexpr VitSize kVitL16{.patch = 16, .layers = 24, .heads = 16, .width = 1024};
constexpr VitSize kVitH14{.patch = 14, .layers = 32, .heads = 16, .width = 1280};

constexpr std::array kVitModels = {
    ModelEntry{.name = "vit_mini",
               .summary = "vision transformer, mini: 6 layers of width 64, 16-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitMini>,
               .takes_size = true},
    ModelEntry{.name = "vit_ti_16",
               .summary = "vision transformer, tiny: 12 layers of width 192, 16-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitTi16>,
               .takes_size = true},
    ModelEntry{.name = "vit_s_16",
               .summary = "vision transformer, small: 12 layers of width 384, 16-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitS16>,
               .takes_size = true},
    ModelEntry{.name = "vit_b_16",
               .summary = "vision transformer, base: 12 layers of width 768, 16-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitB16>,
               .takes_size = true},
    ModelEntry{.name = "vit_l_16",
               .summary = "vision transformer, large: 24 layers of width 1024, 16-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitL16>,
               .takes_size = true},
    ModelEntry{.name = "vit_h_14",
               .summary = "vision transformer, huge: 32 layers of width 1280, 14-pixel patches",
               .input = InputKind::image,
               .make = make_vit<kVitH14>,
               .takes_size = true},
};

}  // namespace

std::span<const ModelEntry> vit_models() { return kVitModels; }

}  // namespace headroom
