// SPDX-License-Identifier: Apache-2.0
// cuDNN's attention: its operations, and what it works in beside what its front end asks for. cuDNN
// compiles it when it runs, and can't be asked without a GPU; seen in PyTorch's tensors on an H100
// (cuDNN 9.19).
#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

/// Where several heads of queries share one of keys, backward has gradients of keys and values for
/// each, and adds them up.
std::int64_t bytes_of_shared_heads(const GraphPart& operation) {
  if (operation.type != CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) return 0;
  const GraphPart* sum = operation.part(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  const std::vector<std::int64_t> of_each =  // (batch, heads, length, width)
      sizes_of(operation.part(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
  const std::vector<std::int64_t> of_all = sizes_of(sum);
  if (of_each.size() != 4 || of_all.size() != 4 || of_each[1] == of_all[1]) return 0;
  return bytes_of({data_type(sum), of_each});
}

/// Queries and keys are computed in blocks of so many.
std::int64_t whole_blocks(std::int64_t length) {
  constexpr std::int64_t kBlock = 128;
  return whole_parts(length, kBlock);
}

}  // namespace

GraphWork attention_work(const GraphPart* q, const GraphPart* k, int products) {
  const std::vector<std::int64_t> queries = sizes_of(q);  // (batch, heads, length, width)
  const std::vector<std::int64_t> keys = sizes_of(k);
  if (queries.size() != 4 || keys.size() != 4) return {};
  const std::int64_t flops_of_pair = 2 * products * queries[0] * queries[1] * queries[3];
  const std::int64_t flops = flops_of_pair * queries[2] * keys[2];
  const std::int64_t of_blocks = flops_of_pair * whole_blocks(queries[2]) * whole_blocks(keys[2]);
  return {.flops = flops,
          .filled = {.lanes = flops, .tensor_cores = of_blocks},
          .type = data_type(q),
          .products = products};
}

std::int64_t attention_bytes(const GraphPart& graph) {
  constexpr std::int64_t kOwnBytes = 256;
  std::int64_t bytes = kOwnBytes;
  for (const auto& operation : operations_of(graph)) bytes += bytes_of_shared_heads(*operation);
  return bytes;
}

}  // namespace headroom::dry_run
