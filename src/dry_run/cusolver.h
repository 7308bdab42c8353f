// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusolverDn.h>

#include <algorithm>
#include <cstdint>

#include "src/dry_run/work.h"

/// What a handle of cuSOLVER points to.
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace headroom::dry_run {

/// What the functions of a type ask for, in numbers, and those for any type. How much each function
/// works in is as solver_work.h has it.
cusolverStatus_t give_size(std::int64_t numbers, int* answer);
cusolverStatus_t give_bytes(std::int64_t bytes, std::size_t* on_device, std::size_t* on_host);

/// Puts what takes so many floating-point operations on the handle's stream. It is taken that it
/// succeeds: `info`, a number on the device for each of `batch` matrices, is 0 then.
cusolverStatus_t solve(cusolverDnHandle_t handle, std::int64_t flops, cudaDataType type, int* info,
                       std::int64_t batch = 1);

}  // namespace headroom::dry_run
