// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/small_kernels.h"

// How routers of mixtures of experts choose is not known, but how much: experts are taken for
// loaded evenly. Kernels of PyTorch's by which they do: topk(); scatter() with a number, by which
// one_hot() writes a one for each index; histograms.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_share(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_share(const char* name, void** arguments, KnownBytes& known,
               bool (*owns)(const void* address));

/// Copies and conversions of such masks. False: the kernel is another, or reads no such mask.
bool run_copy_of_share(const SmallLaunch& launch, KnownBytes& known,
                       bool (*owns)(const void* address));

}  // namespace headroom::dry_run
