// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/gpus/gpu.h"

namespace headroom::dry_run {

/// One of the things that cuDNN's backend interface builds graphs and plans from: what the program
/// set on it, by name. Things hold what they refer to, so that a program may drop its own handles.
struct GraphPart {
  struct Attribute {
    std::int64_t count = 0;
    std::vector<std::byte> values;                  // or
    std::vector<std::shared_ptr<GraphPart>> parts;  // of CUDNN_TYPE_BACKEND_DESCRIPTOR
  };

  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;

  /// The first part that the attribute refers to; null where it was not set.
  const GraphPart* part(cudnnBackendAttributeName_t name) const;
  std::shared_ptr<GraphPart> shared_part(cudnnBackendAttributeName_t name) const;
  /// The numbers of an attribute of 8-byte integers.
  std::vector<std::int64_t> numbers(cudnnBackendAttributeName_t name) const;
};

/// The products and convolutions of a graph of operations.
struct GraphWork {
  std::int64_t flops = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;  // what is multiplied
};

/// Counts a graph (CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR). An operation that is none of
/// convolution, product, attention, pointwise, reduction, random numbers and reshape ends as
/// not_modelled() says.
GraphWork graph_work(const GraphPart& graph);

}  // namespace headroom::dry_run
