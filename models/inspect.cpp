// SPDX-License-Identifier: Apache-2.0
#include "models/inspect.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "models/saved_weights.h"
#include "models/tensor_file.h"
#include "src/core/error.h"

namespace headroom {
namespace {

std::string dtype_name(at::ScalarType type) {
  return std::string(c10::getDtypeNames(type).first);  // a view since LibTorch 2.15
}

nlohmann::ordered_json describe(const std::string& name, const at::Tensor& tensor) {
  return {{"name", name},
          {"shape", tensor.sizes().vec()},
          {"dtype", dtype_name(tensor.scalar_type())},
          {"bytes", tensor.nbytes()}};
}

/// Adds "parameter_count" and "parameter_bytes" of tensors.
class ParameterSum {
 public:
  void add(const at::Tensor& tensor) {
    count_ += tensor.numel();
    bytes_ += tensor.nbytes();
  }
  void write(nlohmann::ordered_json& object) const {
    object["parameter_count"] = count_;
    object["parameter_bytes"] = bytes_;
  }

 private:
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
};

using Names = std::unordered_map<const c10::TensorImpl*, std::string>;

nlohmann::ordered_json describe(const Block& block, const Names& names) {
  nlohmann::ordered_json object{{"parameters", nlohmann::ordered_json::array()}};
  ParameterSum sum;
  for (const at::Tensor& tensor : block.parameters) {
    object["parameters"].push_back(names.at(tensor.unsafeGetTensorImpl()));
    sum.add(tensor);
  }
  sum.write(object);
  return object;
}

/// The tensors of the inputs file, with a word for everything that may be wrong with it.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path), tensors_(read_tensors(path)) {}

  bool has(const std::string& name) const { return tensors_.contains(name); }

  at::Tensor get(const std::string& name, at::ScalarType type, std::int64_t dimensions) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) refuse("there is no '" + name + "'");
    const at::Tensor& tensor = found->second;
    require(tensor.scalar_type() == type, name, std::string("must be ") + c10::toString(type));
    require(tensor.dim() == dimensions, name,
            "must have " + std::to_string(dimensions) + " dimensions");
    require(tensor.numel() > 0, name, "is empty");
    return tensor;
  }

  void require(bool condition, const std::string& name, const std::string& what) const {
    if (!condition) refuse("'" + name + "' " + what);
  }

  void allow_only(std::initializer_list<std::string_view> names) const {
    for (const auto& [name, tensor] : tensors_) {
      if (std::ranges::find(names, name) == names.end()) refuse("unexpected '" + name + "'");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ConfigError(Place{.file = path_}, what);
  }

  std::string path_;
  NamedTensors tensors_;
};

Batch read_images(const InputFile& inputs) {
  inputs.allow_only({"images"});
  const at::Tensor images = inputs.get("images", at::kFloat, 4);
  inputs.require(images.size(1) == 3, "images", "must have 3 channels: (B, 3, H, W)");
  inputs.require(images.size(2) == images.size(3), "images", "must be square");
  return {.inputs = images, .attention_mask = {}, .labels = {}};
}

/// (B, T), or undefined where every token counts: some attention kernels take no mask at all.
at::Tensor read_attention_mask(const InputFile& inputs, const at::Tensor& ids) {
  const std::string name = "attention_mask";
  if (!inputs.has(name)) return {};
  at::Tensor mask = inputs.get(name, at::kLong, 2);
  inputs.require(mask.sizes() == ids.sizes(), name, "must have the shape of 'input_ids'");
  inputs.require(mask.eq(0).logical_or(mask.eq(1)).all().item<bool>(), name, "must be 0 or 1");
  inputs.require(mask.any(1).all().item<bool>(), name, "leaves a text without any token");
  return mask.all().item<bool>() ? at::Tensor() : mask;
}

Batch read_texts(const InputFile& inputs, std::int64_t vocabulary) {
  inputs.allow_only({"input_ids", "attention_mask"});
  const at::Tensor ids = inputs.get("input_ids", at::kLong, 2);
  inputs.require(ids.min().item<std::int64_t>() >= 0 && ids.max().item<std::int64_t>() < vocabulary,
                 "input_ids", "must lie in 0 to " + std::to_string(vocabulary - 1));
  return {.inputs = ids, .attention_mask = read_attention_mask(inputs, ids), .labels = {}};
}

}  // namespace

nlohmann::ordered_json inspect(Model& model) {
  Names names;
  ParameterSum sum;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const Parameter& parameter : model.parameters()) {
    names[parameter.tensor.unsafeGetTensorImpl()] = parameter.name;
    sum.add(parameter.tensor);
    parameters.push_back(describe(parameter.name, parameter.tensor));
  }
  nlohmann::ordered_json buffers = nlohmann::ordered_json::array();
  for (const Buffer& buffer : model.buffers()) {
    buffers.push_back(describe(buffer.name, buffer.tensor));
  }
  nlohmann::ordered_json blocks = nlohmann::ordered_json::array();
  for (const Block& block : model.blocks()) blocks.push_back(describe(block, names));

  nlohmann::ordered_json result;
  sum.write(result);
  result["parameters"] = std::move(parameters);
  result["buffers"] = std::move(buffers);
  result["blocks"] = std::move(blocks);
  return result;
}

void forward(const ForwardRequest& request) {
  const ModelEntry& entry = find_model(request.model.name);
  const InputFile inputs(request.inputs);
  const bool text = entry.input == InputKind::text;
  const Batch batch = text ? read_texts(inputs, entry.vocabulary) : read_images(inputs);
  const InputShape shape = text ? InputShape{.sequence_length = batch.inputs.size(1)}
                                : InputShape{.image_size = batch.inputs.size(2)};

  const auto model = entry.make(request.model, shape, ParameterFactory(request.device, at::kFloat));
  load_weights(request.weights, model->parameters(), model->buffers());
  model->set_training(false);
  const at::NoGradGuard no_grad;
  write_tensors(request.output, {{"logits", model->logits(batch.to(request.device))}});
}

}  // namespace headroom
