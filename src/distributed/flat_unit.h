// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "src/distributed/process_group.h"
#include "src/memory/storage.h"

namespace headroom {

/// Where the whole of a unit's weights is.
enum class Weights {
  resident,  // in memory, always
  gathered,  // in memory from allocate() to release(); between them each rank has its part alone
};

/// Parameters as one flat tensor, which ranks share in equal parts: the last parts are padded with
/// zeros, so that any number of ranks can share any number of elements. The parameters become views
/// of the flat tensor and keep their handles, so that whoever reads them need not know.
/// After FlatParameter of PyTorch's FullyShardedDataParallel (Zhao et al. 2023, arXiv:2304.11277).
class FlatUnit {
 public:
  /// Takes the values of `parameters`, which are of one dtype, all with or all without a gradient,
  /// and lie anywhere, to `device` in `dtype`. The group outlives the unit.
  FlatUnit(std::vector<at::Tensor> parameters, at::Device device, at::ScalarType dtype,
           ProcessGroup& group, Weights weights);

  /// This rank's part, (padded elements / ranks): a leaf for an optimizer.
  const at::Tensor& part() const { return part_; }
  /// All parts, (padded elements); its memory is there while the weights are.
  const at::Tensor& whole() const { return whole_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  bool requires_grad() const { return part_.requires_grad(); }

  /// Gives whole() memory, with any content. Only where weights are gathered.
  void allocate() { allocate_storage(whole_); }
  /// Takes whole()'s memory away; the parameters can't be read until it is allocated again.
  void release() { release_storage(whole_); }
  bool is_allocated() const { return headroom::is_allocated(whole_); }

  /// Fetches the parts of all ranks into whole().
  Collective gather() { return group_.all_gather(whole_, part_); }

  /// The parameters' gradients, flat and padded as whole() is, zeros where a parameter has none.
  /// The parameters' own are dropped.
  at::Tensor take_gradient() const;

 private:
  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  at::Tensor whole_;
  at::Tensor part_;
};

}  // namespace headroom
