// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_graph.h"

#include <cstring>
#include <string>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

std::vector<std::int64_t> sizes(const GraphPart* tensor) {
  return tensor == nullptr ? std::vector<std::int64_t>{}
                           : tensor->numbers(CUDNN_ATTR_TENSOR_DIMENSIONS);
}

cudnnDataType_t data_type(const GraphPart* tensor) {
  auto type = CUDNN_DATA_FLOAT;
  if (tensor == nullptr) return type;
  const auto found = tensor->attributes.find(CUDNN_ATTR_TENSOR_DATA_TYPE);
  if (found != tensor->attributes.end()) {
    std::memcpy(&type, found->second.values.data(), sizeof(type));
  }
  return type;
}

GraphWork convolution(const GraphPart* output, const GraphPart* filter) {
  return {convolution_flops(sizes(output), sizes(filter)), data_type(filter)};
}

GraphWork product(const GraphPart* a, const GraphPart* result) {
  const std::vector<std::int64_t> factor = sizes(a);
  return {factor.empty() ? 0 : 2 * elements(sizes(result)) * factor.back(), data_type(a)};
}

/// Attention as one operation. `products`: two forward; five backward, which makes one of the
/// forward's again.
GraphWork attention(const GraphPart* q, const GraphPart* k, int products) {
  const std::vector<std::int64_t> queries = sizes(q);  // (batch, heads, length, width)
  const std::vector<std::int64_t> keys = sizes(k);
  if (queries.size() != 4 || keys.size() != 4) return {};
  return {2 * products * elements(queries) * keys[2], data_type(q)};
}

GraphWork operation_work(const GraphPart& operation) {
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return convolution(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y),
                         operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return convolution(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY),
                         operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W));
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return convolution(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY),
                         operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW));
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return product(operation.part(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                     operation.part(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      return attention(operation.part(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC),
                       operation.part(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), /*products=*/2);
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
      return attention(operation.part(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC),
                       operation.part(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), /*products=*/5);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return {};
    default: {
      const std::string name =
          "cudnnBackendExecute of descriptor " + std::to_string(operation.type);
      not_modelled(name.c_str());
    }
  }
}

}  // namespace

std::shared_ptr<GraphPart> GraphPart::shared_part(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.parts.empty()) return nullptr;
  return found->second.parts.front();
}

const GraphPart* GraphPart::part(cudnnBackendAttributeName_t name) const {
  return shared_part(name).get();  // this part holds it
}

std::vector<std::int64_t> GraphPart::numbers(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return {};
  std::vector<std::int64_t> result(found->second.values.size() / sizeof(std::int64_t));
  std::memcpy(result.data(), found->second.values.data(), result.size() * sizeof(std::int64_t));
  return result;
}

GraphWork graph_work(const GraphPart& graph) {
  GraphWork sum;
  const auto operations = graph.attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations == graph.attributes.end()) return sum;
  for (const auto& operation : operations->second.parts) {
    const GraphWork work = operation_work(*operation);
    if (work.flops > 0 && sum.flops == 0) sum.type = work.type;  // those behind it are made here
    sum.flops += work.flops;
  }
  return sum;
}

}  // namespace headroom::dry_run
