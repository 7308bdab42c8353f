// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/optimizers/block_map.h"
#include "src/optimizers/update_rule.h"

namespace headroom {

/// Fewer numbers of a parameter are not worth the error of codes.
constexpr std::int64_t kFewestInBlocks = 4096;

/// Changes weights and both moments, in place, by the gradient: all of one shape, in float32.
using MomentsUpdate = std::function<void(at::Tensor weights, const at::Tensor& gradient,
                                         at::Tensor first, at::Tensor second)>;

/// The two moments of an Adam, in blocks of codes. Of a parameter its state is, twice, the codes
/// (as many bytes as the format has it) and the scale of each block in float32.
class BlockMoments {
 public:
  /// `block`: numbers that share a scale. `values`: what codes of the first moment stand for, and
  /// of the second. `like` and `make_state` say where the maps live.
  BlockMoments(std::int64_t block, CodeFormat format, const std::array<at::Tensor, 2>& values,
               const at::Tensor& like, const StateFactory& make_state);

  /// Updates parameter `index` of `tensors` and its state by `update`, a million numbers at a time:
  /// 4 MiB in float32, which bounds what is taken beside the state. The last block may be shorter,
  /// where a byte has one code.
  void update(const UpdateTensors& tensors, std::size_t index, const MomentsUpdate& update) const;
  /// What both maps keep.
  std::vector<at::Tensor> tensors() const;

 private:
  std::int64_t block_;
  std::int64_t codes_in_a_byte_;
  std::array<BlockMap, 2> maps_;
};

}  // namespace headroom
