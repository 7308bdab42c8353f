// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "src/distributed/process_group.h"
#include "src/memory/device_memory.h"
#include "src/memory/streams.h"

namespace headroom {

/// How the weights of a unit are kept.
struct FlatUnitOptions {
  bool gathered = false;              // the whole is in memory from allocate() to release() alone
  bool part_on_host = false;          // only where gathered
  at::ScalarType dtype = at::kFloat;  // of the part, and of what the optimizer updates
  at::ScalarType gather_dtype = at::kFloat;  // of the whole

  /// The part is a piece of the whole, and not beside it.
  bool shares_memory() const { return !gathered && dtype == gather_dtype; }
};

/// Parameters as one flat tensor, which ranks share in equal parts: the last parts are padded with
/// zeros, so that any number of ranks can share any number of elements. The parameters become views
/// of the flat tensor and keep their handles, so that whoever reads them need not know.
/// After FlatParameter of PyTorch's FullyShardedDataParallel (Zhao et al. 2023, arXiv:2304.11277).
class FlatUnit {
 public:
  /// Takes over `parameters`, all with or all without a gradient, with their values where they have
  /// memory (on any device, in any dtype); where they have none, receive() brings them. The group,
  /// on whose device the whole is, outlives the unit.
  FlatUnit(std::vector<at::Tensor> parameters, ProcessGroup& group, const FlatUnitOptions& options);

  /// This rank's part, (padded elements / ranks): a leaf for an optimizer.
  const at::Tensor& part() const { return part_; }
  /// All parts, (padded elements).
  const at::Tensor& whole() const { return whole_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  /// The values of one parameter, by its place among parameters().
  void receive(std::size_t parameter, const at::Tensor& values);

  /// Of one parameter, by its place among parameters(), which elements lie in this rank's part,
  /// and those, flat.
  struct Elements {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    at::Tensor values;
  };
  Elements own_elements(std::size_t parameter) const;

  void allocate() { allocate_storage(whole_); }  // with any content
  void release() { release_storage(whole_); }    // the parameters can't be read any more
  bool is_allocated() const { return headroom::is_allocated(whole_); }

  /// part() on the device and in the dtype of whole(): part() itself where it is so, else a copy
  /// that may still be under way on the current stream.
  at::Tensor fetch_part() const;
  /// Gathers what fetch_part() gave on all ranks into whole().
  Collective gather(const at::Tensor& fetched);
  /// Bytes that gather() fetches from the host.
  std::int64_t fetched_bytes() const;

  /// The parameters' gradients, flat and padded as whole() is, zeros where a parameter has none.
  /// The parameters' own are dropped. They are joined on `stream`, so that what the allocator can't
  /// use again before that is through are single gradients, which fit into smaller gaps later.
  at::Tensor take_gradient(const SideStream& stream) const;

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<std::int64_t> starts_;  // of each parameter in the whole
  ProcessGroup& group_;
  FlatUnitOptions options_;
  at::Tensor whole_;
  at::Tensor part_;
};

}  // namespace headroom
