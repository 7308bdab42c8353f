// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/batch_norm.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/table.h"
#include "src/core/error.h"

// B samples, C channels, H x W pixels, K pixels of a kernel's side
namespace headroom {
namespace {

/// What tells one ResNet of bottlenecks from another.
struct ResnetSize {
  std::array<std::int64_t, 4> blocks;  // of each stage
  std::int64_t width;                  // inner channels of the first stage; each next has twice it
};

constexpr std::int64_t kStemChannels = 64;
constexpr std::int64_t kExpansion = 4;  // a block's outer channels over its inner ones

/// Without bias. The image keeps its size, but for the stride.
struct Convolution {
  at::Tensor weight;  // (out, in, K, K), K odd; drawn for rectifiers, by the fan out
  std::int64_t stride;

  Convolution(ParameterFactory& parameters, const std::string& name, std::int64_t in,
              std::int64_t out, std::int64_t kernel, std::int64_t step = 1)
      : weight(parameters.normal(
            name + ".weight", {out, in, kernel, kernel},
            std::sqrt(2.0 / (static_cast<double>(out) * static_cast<double>(kernel * kernel))))),
        stride(step) {}

  at::Tensor operator()(const at::Tensor& x) const {
    const std::int64_t padding = weight.size(2) / 2;
    return at::conv2d(x, weight, /*bias=*/{}, {stride, stride}, {padding, padding});
  }
};

/// What takes the place of a block's input where its output has another shape.
struct Downsample {
  Convolution convolution;
  BatchNorm norm;
};

/// 1x1 to fewer channels, 3x3, 1x1 to four times as many; its input is added. The stride stands in
/// the 3x3, as in torchvision (v1.5). Rectifiers and the sum work in place, as there.
struct Bottleneck {
  Convolution conv1;
  BatchNorm bn1;
  Convolution conv2;
  BatchNorm bn2;
  Convolution conv3;
  BatchNorm bn3;
  std::optional<Downsample> downsample;

  Bottleneck(ParameterFactory& parameters, const std::string& name, std::int64_t in,
             std::int64_t width, std::int64_t stride)
      : conv1(parameters, name + "conv1", in, width, 1),
        bn1(parameters, name + "bn1", width),
        conv2(parameters, name + "conv2", width, width, 3, stride),
        bn2(parameters, name + "bn2", width),
        conv3(parameters, name + "conv3", width, kExpansion * width, 1),
        bn3(parameters, name + "bn3", kExpansion * width) {
    const std::int64_t out = kExpansion * width;
    if (in == out && stride == 1) return;
    downsample = Downsample{Convolution(parameters, name + "downsample.0", in, out, 1, stride),
                            BatchNorm(parameters, name + "downsample.1", out)};
  }

  at::Tensor operator()(const at::Tensor& x, bool training) const {
    at::Tensor y = bn1(conv1(x), training);
    y = bn2(conv2(at::relu_(y)), training);
    y = bn3(conv3(at::relu_(y)), training);
    y.add_(downsample ? downsample->norm(downsample->convolution(x), training) : x);
    return at::relu_(y);
  }
};

struct ResnetLayers {
  Convolution conv1;
  BatchNorm bn1;
  std::vector<std::pair<std::string, Bottleneck>> blocks;  // by the prefixes of their parameters
  Linear fc;                                               // (classes, C)

  ResnetLayers(ParameterFactory& parameters, const ResnetSize& size, std::int64_t classes)
      : conv1(parameters, "conv1", 3, kStemChannels, 7, 2), bn1(parameters, "bn1", kStemChannels) {
    std::int64_t channels = kStemChannels;
    std::int64_t width = size.width;
    for (std::size_t stage = 0; stage < size.blocks.size(); ++stage, width *= 2) {
      for (std::int64_t i = 0; i < size.blocks[stage]; ++i) {
        const std::string prefix =
            "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
        const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        blocks.emplace_back(prefix, Bottleneck(parameters, prefix, channels, width, stride));
        channels = kExpansion * width;
      }
    }
    const double bound = 1.0 / std::sqrt(static_cast<double>(channels));
    fc.weight = parameters.uniform("fc.weight", {classes, channels}, bound);
    fc.bias = parameters.uniform("fc.bias", {classes}, bound);
  }
};

/// Its blocks are the bottlenecks. They hand on (B, C, H, W): from stage to stage twice the
/// channels, and half the height and width.
class Resnet final : public Model {
 public:
  Resnet(ResnetLayers layers, ParameterFactory& parameters)
      : Model(parameters.take(), parameters.take_buffers()), layers_(std::move(layers)) {
    for (const auto& named : layers_.blocks) {
      const Bottleneck& bottleneck = named.second;
      add_block(named.first, {},
                [this, &bottleneck](const at::Tensor& x) { return bottleneck(x, training_); });
    }
  }

  Embedded embed(const Batch& batch) override {
    at::Tensor x = layers_.conv1(batch.inputs.to(layers_.conv1.weight.scalar_type()));
    x = layers_.bn1(x, training_);
    return {at::max_pool2d(at::relu_(x), {3, 3}, {2, 2}, {1, 1})};
  }

  at::Tensor head(at::Tensor x) override {
    return layers_.fc(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));  // (B, classes)
  }

 private:
  ResnetLayers layers_;
};

/// Residual network. Source: torchvision.models.ResNet 0.26 with Bottleneck, its names, initial
/// values and operations; He et al. 2015, arXiv:1512.03385.
/// Throws ConfigError for options that it lacks, and for images without pixels.
template <ResnetSize size>
std::unique_ptr<Model> make_resnet(const ModelOptions& options, const InputShape& shape,
                                   ParameterFactory parameters) {
  if (options.dropout != 0.0) throw ConfigError(options.name + " has no dropout; it can only be 0");
  if (options.attention != Attention::automatic) {
    throw ConfigError(options.name + " has no attention; it can only be automatic");
  }
  if (shape.image_size < 1) throw ConfigError(options.name + " needs images of a pixel or more");
  ResnetLayers layers(parameters, size, options.num_classes);
  return std::make_unique<Resnet>(std::move(layers), parameters);
}

constexpr ResnetSize kResnetMini{.blocks = {2, 2, 1, 1}, .width = 8};  // for tests
constexpr ResnetSize kResnet50{.blocks = {3, 4, 6, 3}, .width = 64};

// On digits of 64 pixels torchvision's own gradients, of a ResNet as small as the mini one, move by
// up to 29 % under autocast in bfloat16, and the loss by 0.8 %.
constexpr double kGradientRounding = 10.0;

constexpr std::array kResnetModels = {
    ModelEntry{.name = "resnet_mini",
               .summary = "residual network, mini: 6 bottlenecks of 8 to 64 inner channels",
               .input = InputKind::image,
               .make = make_resnet<kResnetMini>,
               .between = Between::images,
               .names_layers = false,
               .has_attention = false,
               .mixes_samples = true,
               .gradient_rounding = kGradientRounding},
    ModelEntry{.name = "resnet_50",
               .summary = "residual network: 16 bottlenecks of 64 to 512 inner channels",
               .input = InputKind::image,
               .make = make_resnet<kResnet50>,
               .between = Between::images,
               .names_layers = false,
               .has_attention = false,
               .mixes_samples = true,
               .gradient_rounding = kGradientRounding},
};

}  // namespace

std::span<const ModelEntry> resnet_models() { return kResnetModels; }

}  // namespace headroom
