// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/work.h"
#include "src/gpus/gpu.h"

namespace headroom::dry_run {

/// What the name of a compiled kernel tells of what it moves and computes. Names are PyTorch's and
/// FlashAttention's own, as their sources have them; of another kernel, what its arguments point
/// to.
struct KernelForm {
  enum class Kind {
    elementwise,  // (int elements, functor, std::array<char*, tensors> or a function of places)
    chunks,       // of lists of tensors: a block of the grid for each 65,536 elements
    reduction,    // (ReduceOp)
    pointers,     // any, with pointers among its arguments
    whole,        // likewise; it goes through all that they point to, however few its threads are
    gather,       // (output, table, places, ...): of each no more than is written
    batch_norm,   // of channels, each by a block; its first argument is what is normalized
    dropout,      // (inputs, outputs, mask, ...): of whole tensors, by as many threads as fit
    random,       // (int elements, ...): drawn by chance, likewise
    flash_forward,
    flash_backward,
    efficient_forward,
    efficient_backward,
    depthwise_forward,   // convolutions of each channel by itself, by threads that go over a window
    depthwise_of_input,  // its gradients
    depthwise_of_filter,
    other
  };
  Kind kind = Kind::other;
  int tensors = 0;  // elementwise, chunks, batch_norm: how often an element is read or written
  bool has_pointers = false;  // elementwise: they stand in an array
  int width = 4;              // bytes of an element
  Access access = Access::narrow_numbers;
  /// The places of the arguments that are pointers, or structures that begin with one.
  std::vector<std::size_t> pointers{};
  /// Those of these that point to what is no constant. Of PyTorch's own kernels none is named.
  std::vector<std::size_t> written{};
  /// Of `whole`: the places of what a block goes through again, each as often as it does.
  std::vector<std::size_t> again{};
  /// Of attention: a head's width, 0 where the kernel takes any, and the queries (backward: the
  /// keys) of a block of the grid.
  std::int64_t head = 0;
  std::int64_t rows = 0;
  bool is_causal = false;
  Precision precision = Precision::float32;
};

KernelForm kernel_form(const char* mangled);

}  // namespace headroom::dry_run
