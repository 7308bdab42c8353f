// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "src/optimizers/update_rule.h"

namespace headroom {

/// The numbers from -1 or 0 to 1 that a code stands for, ascending, float32, 2 to the power of
/// `decades` + 1 of them: 0, 1, and in each decade twice as many as in the one below. Source:
/// Dettmers 2015, arXiv:1511.04561.
at::Tensor dynamic_map(bool is_signed, int decades);

/// How numbers become codes, where implementations differ.
struct CodeFormat {
  bool two_in_a_byte = false;  // 16 values, the first of two in the upper half; else 256
  bool ties_go_up = false;     // halfway between two values a number becomes the larger one
  double least_scale = 0.0;  // of a block; 0: of a block of zeros it is 1, and no other is changed
};

/// Numbers in 8 or 4 bits, in blocks of which each has a scale, the largest of its numbers.
class BlockMap {
 public:
  /// `values`: what codes stand for. `like` and `make_state` say where its own tensors live.
  BlockMap(const at::Tensor& values, CodeFormat format, const at::Tensor& like,
           const StateFactory& make_state);

  /// `codes` (blocks, bytes) of uint8, `scales` (blocks): the numbers in float32, (blocks, width).
  at::Tensor widened(const at::Tensor& codes, const at::Tensor& scales) const;
  /// The way back, which needs the numbers no more: it divides them.
  void narrow(at::Tensor numbers, at::Tensor codes, at::Tensor scales) const;
  /// What it keeps: that of each byte, and what lies halfway between two values.
  std::vector<at::Tensor> tensors() const { return {of_bytes_, edges_}; }

 private:
  CodeFormat format_;
  at::Tensor of_bytes_;  // (256), or (256, 2)
  at::Tensor edges_;     // (255), or (15)
};

}  // namespace headroom
