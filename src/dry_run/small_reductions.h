// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Kernels of PyTorch that reduce tensors, or each of their rows: the sum, the mean, the largest and
// the smallest of numbers, the product of int64, and whether any or all of several hold.
namespace headroom::dry_run {

/// A kernel's name that PyTorch compiles when it is first called, which is not mangled.
inline constexpr const char* kCompiledProduct = "reduction_prod_kernel";

/// By the kernel's mangled name.
bool is_reduction(const char* name);

/// One that asks whether all hold, by which programs check what they computed.
bool is_of_all(const char* name);

/// Brings what is known up to date with a launch of one: at::native::reduce_kernel(operation). What
/// is not known counts as holding where all are to. Floats that are all alike count for not
/// known where something may have been written over them. False: the operation is not laid out as
/// expected, or writes more than its result.
bool run_reduction(const char* name, const void* operation, KnownBytes& known,
                   bool (*owns)(const void* address));

}  // namespace headroom::dry_run
