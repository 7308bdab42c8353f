// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"

// Kernels of PyTorch whose results, or at least whose outputs, are known from their names and
// arguments. Ranks that send each other objects (broadcast_object_list, all_gather_object) sum,
// add, compare and join the sizes of these on the device before the host reads them.
namespace headroom::dry_run {

/// What a launch of a kernel was given.
struct SmallLaunch {
  const char* name;  // mangled
  void** arguments;
  unsigned grid_x;
  unsigned grid_y;
  unsigned block_x;
  const LiveBlocks& blocks;
};

/// How a kernel is followed.
struct SmallKernel {
  /// Brings what is known up to date with a launch: with the results where all that they are made
  /// of is known, else with that its outputs are not. Whether all of something holds that is not
  /// known is taken for true, and that two single bools do: programs check so that what they
  /// computed is valid, and end where it is not. `owns`: whether an address is a device's. False
  /// where its arguments are not laid out as expected: it may have written anywhere.
  using Run = bool (*)(const SmallLaunch& launch, KnownBytes& known,
                       bool (*owns)(const void* address));

  Run run = nullptr;  // null: it is none that is followed
  /// Programs check by it that something holds. These are followed in any version of PyTorch.
  bool is_check = false;
};

/// By the kernel's mangled name.
SmallKernel small_kernel(const char* name);

}  // namespace headroom::dry_run
