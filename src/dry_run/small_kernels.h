// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"

// Kernels of PyTorch whose results, or at least whose outputs, are known from their names and
// arguments. Ranks that send each other objects (broadcast_object_list, all_gather_object) sum,
// add, compare and join the sizes of these on the device before the host reads them.
namespace headroom::dry_run {

/// What a kernel is, as far as it is known.
enum class SmallKernel {
  other,
  elementwise,
  strided,  // elementwise, of tensors whose elements lie apart or are taken again and again
  fill,
  equal,
  logic,
  reduction,
  all,   // a reduction: whether all of several bools hold
  both,  // the same of two
  join,
  lists,  // to whose elements a number is added
  triangle,
  random,
  repeat,
  resize,
  search,
  range,
  count,  // of what is not zero
  flip,
  scan,
  unique,
  index,    // x[index], and what is written so
  scatter,  // and gather: an index for each element
  select,   // an index for each slice
  row_sum,
  none,     // it only checks or prepares something, and writes nothing
  masked_scatter,
  sum_by_index,
  sort,
  radix_sort,
  largest,  // of a row
  extreme,  // where it stands
  share     // of a mask, where the mask is not known
};

/// By the kernel's mangled name.
SmallKernel small_kernel(const char* name);

/// Whether programs check by it that something holds. These are followed in any version of PyTorch.
inline bool is_check(SmallKernel kernel) {
  return kernel == SmallKernel::all || kernel == SmallKernel::both;
}

/// What a launch of such a kernel was given.
struct SmallLaunch {
  const char* name;
  void** arguments;
  unsigned grid_x;
  unsigned grid_y;
  unsigned block_x;
  const LiveBlocks& blocks;
};

/// Brings what is known up to date with a launch: with the results where all that they are made of
/// is known, else with that its outputs are not. Whether all of something holds that is not known
/// is taken for true, and that two single bools do: programs check so that what they computed is
/// valid, and end where it is not. `owns`: whether an address is a device's. False where the kernel
/// is none of these, or its arguments are not laid out as expected: it may have written anywhere.
bool run_small_kernel(SmallKernel kernel, const SmallLaunch& launch, KnownBytes& known,
                      bool (*owns)(const void* address));

}  // namespace headroom::dry_run
