// SPDX-License-Identifier: Apache-2.0
#include "models/inspect.h"

#include <c10/core/ScalarType.h>

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

namespace headroom {
namespace {

using nlohmann::ordered_json;

std::string dtype_name(at::ScalarType type) { return c10::getDtypeNames(type).first; }

ordered_json describe(const Parameter& parameter) {
  return {{"name", parameter.name},
          {"shape", parameter.tensor.sizes().vec()},
          {"dtype", dtype_name(parameter.tensor.scalar_type())},
          {"bytes", parameter.tensor.nbytes()}};
}

/// Adds "parameter_count" and "parameter_bytes" of tensors.
class Sum {
 public:
  void add(const at::Tensor& tensor) {
    count_ += tensor.numel();
    bytes_ += tensor.nbytes();
  }
  void write(ordered_json& object) const {
    object["parameter_count"] = count_;
    object["parameter_bytes"] = bytes_;
  }

 private:
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
};

using Names = std::unordered_map<const c10::TensorImpl*, std::string>;

ordered_json describe(const Block& block, const Names& names) {
  ordered_json object{{"parameters", ordered_json::array()}};
  Sum sum;
  for (const at::Tensor& tensor : block.parameters) {
    object["parameters"].push_back(names.at(tensor.unsafeGetTensorImpl()));
    sum.add(tensor);
  }
  sum.write(object);
  return object;
}

}  // namespace

ordered_json inspect(Model& model) {
  Names names;
  Sum sum;
  ordered_json parameters = ordered_json::array();
  for (const Parameter& parameter : model.parameters()) {
    names[parameter.tensor.unsafeGetTensorImpl()] = parameter.name;
    sum.add(parameter.tensor);
    parameters.push_back(describe(parameter));
  }
  ordered_json blocks = ordered_json::array();
  for (const Block& block : model.blocks()) blocks.push_back(describe(block, names));

  ordered_json result;
  sum.write(result);
  result["parameters"] = std::move(parameters);
  result["blocks"] = std::move(blocks);
  return result;
}

}  // namespace headroom
