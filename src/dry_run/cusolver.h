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

// How much memory cuSOLVER works in only its queries know. Estimated: what LAPACK's documentation
// asks for the function of the same name, in blocks of as many columns as its ILAENV gives at most.
namespace headroom::dry_run {

inline constexpr std::int64_t kBlockColumns = 64;

/// Elements for what works in blocks of columns of `rows`.
inline std::int64_t of_blocks(std::int64_t rows) { return kBlockColumns * std::max(rows, 1L); }

/// What the functions of a type ask for, and those for any type.
cusolverStatus_t give_size(std::int64_t elements, int* answer);
cusolverStatus_t give_bytes(std::int64_t elements, cudaDataType type, std::size_t* on_device,
                            std::size_t* on_host);

/// Puts what takes so many floating-point operations on the handle's stream. It is taken that it
/// succeeds: `info`, a number on the device for each of `batch` matrices, is 0 then.
cusolverStatus_t solve(cusolverDnHandle_t handle, std::int64_t flops, cudaDataType type, int* info,
                       std::int64_t batch = 1);

}  // namespace headroom::dry_run
