// SPDX-License-Identifier: Apache-2.0
#include "tests/models/golden.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "models/table.h"
#include "src/core/enum_names.h"

namespace headroom {
namespace {

constexpr std::uint64_t kInputs = 1'000'000;  // the number of the tensor of inputs
constexpr std::int64_t kGoldenSamples = 3;    // B
constexpr std::uint64_t kGoldenVocabulary = 30522;
constexpr std::int64_t kLogitStride = 4096;

std::uint64_t splitmix64(std::uint64_t counter) {
  std::uint64_t z = counter + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::uint64_t hash(std::uint64_t number, std::int64_t i) {
  return splitmix64((number << 32U) + static_cast<std::uint64_t>(i));
}

float uniform(std::uint64_t number, std::int64_t i) {
  return static_cast<float>(static_cast<double>(hash(number, i) >> 40U) / 8388608.0 - 1.0);
}

/// scale * uniform + offset, in fp32.
at::Tensor filled(std::uint64_t number, at::IntArrayRef shape, float scale, float offset) {
  at::Tensor values = at::empty(shape, at::kFloat);
  auto* data = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) data[i] = scale * uniform(number, i) + offset;
  return values;
}

Attention attention_named(const std::string& name) {
  const auto names = enum_names<Attention>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Attention>(i);
  }
  throw std::invalid_argument(name);
}

}  // namespace

const nlohmann::json& golden() {
  static const nlohmann::json json = [] {
    std::ifstream file(HEADROOM_SOURCE_DIR "/tests/golden/models.json");
    return nlohmann::json::parse(file);
  }();
  return json;
}

ModelSize golden_size(const nlohmann::json& entry) {
  const auto size = entry.find("size");
  if (size == entry.end()) return {};
  return {.layers = size->at("layers").get<std::int64_t>(),
          .width = size->at("width").get<std::int64_t>(),
          .heads = size->at("heads").get<std::int64_t>()};
}

std::unique_ptr<Model> make_golden_model(const nlohmann::json& entry, const GoldenModel& wanted) {
  const ModelOptions options{.name = entry.at("model").get<std::string>(),
                             .num_classes = entry.at("num_classes").get<std::int64_t>(),
                             .attention = entry.value("has_attention", true)
                                              ? attention_named(wanted.attention)
                                              : Attention::automatic,
                             .size = golden_size(entry)};
  const InputShape shape{.image_size = entry.at("image_size").get<std::int64_t>(),
                         .sequence_length = entry.value("tokens", std::int64_t{16})};
  return find_model(options.name)
      .make(options, shape, ParameterFactory(wanted.device, wanted.dtype));
}

void fill_by_hash(Model& model) {
  const at::NoGradGuard no_grad;
  std::uint64_t number = 0;
  for (const auto& [name, tensor] : model.parameters()) {
    const bool gain = tensor.dim() == 1 && name.ends_with("weight");
    tensor.copy_(filled(number++, tensor.sizes(), 1.0F / 16.0F, gain ? 1.0F : 0.0F));
  }
}

Batch make_golden_batch(const nlohmann::json& entry) {
  const at::Tensor labels =
      at::arange(kGoldenSamples, at::kLong).remainder(entry.at("num_classes").get<std::int64_t>());
  const auto tokens = entry.at("tokens").get<std::int64_t>();
  if (tokens == 0) {
    const auto side = entry.at("image_size").get<std::int64_t>();
    return {.inputs = filled(kInputs, {kGoldenSamples, 3, side, side}, 1.0F, 0.0F),
            .attention_mask = {},
            .labels = labels};
  }
  at::Tensor ids = at::empty({kGoldenSamples, tokens}, at::kLong);
  auto* data = ids.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    data[i] = static_cast<std::int64_t>(hash(kInputs, i) % kGoldenVocabulary);
  }
  at::Tensor mask = at::ones_like(ids);
  for (std::int64_t sample = 0; sample < kGoldenSamples; ++sample) {
    ids.select(0, sample).narrow(0, tokens - 3 * sample, 3 * sample).zero_();
    mask.select(0, sample).narrow(0, tokens - 3 * sample, 3 * sample).zero_();
  }
  return {.inputs = ids,
          .attention_mask = entry.at("padded").get<bool>() ? mask : at::Tensor(),
          .labels = labels};
}

std::array<double, 5> fingerprint(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor flat = tensor.to(at::kDouble).flatten();
  std::array<double, 5> values{flat.norm().item<double>()};
  for (std::int64_t k = 0; k < 4; ++k) {
    values[static_cast<std::size_t>(k) + 1] = flat[k * (flat.numel() - 1) / 3].item<double>();
  }
  return values;
}

at::Tensor golden_logits(const at::Tensor& logits) {
  if (logits.dim() == 2) return logits;
  return logits.flatten(0, 1).slice(1, 0, std::nullopt, kLogitStride);
}

}  // namespace headroom
