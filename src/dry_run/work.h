// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <cstdint>

#include "src/gpus/gpu.h"

// What work is, and how long it lasts on a GPU, from the GPU's rates: no less than it can take, so
// that a plan's times are bounds and not promises. Nanoseconds.
namespace headroom::dry_run {

/// What a kernel moves through the device's memory is not known from outside. Stated: each thread
/// reads two and writes one vector of 16 bytes, as PyTorch's elementwise kernels do in fp32.
inline constexpr std::int64_t kBytesPerThread = 48;

/// Nothing that runs on a GPU is shorter.
inline constexpr std::int64_t kShortestKernelNs = 2000;

std::int64_t kernel_ns(const Gpu& gpu, std::int64_t threads);

/// A pass over `bytes` of the device's memory.
std::int64_t memory_ns(const Gpu& gpu, std::int64_t bytes);

/// A copy between device and host.
std::int64_t host_copy_ns(const Gpu& gpu, std::int64_t bytes);

/// What a rank sends to its peers.
std::int64_t peer_copy_ns(const Gpu& gpu, std::int64_t bytes);

std::int64_t product_ns(const Gpu& gpu, std::int64_t flops, Precision precision);

/// The floating-point operations of `batch` products of (m, k) and (k, n); a complex multiplication
/// and addition counts four times.
std::int64_t product_flops(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type);

/// Whether a product computed so may round fp32 to TF32.
bool rounds_to_tf32(cublasComputeType_t compute);

/// What the units that multiply compute in. `tensor_cores` says whether fp32 may be rounded to
/// TF32.
Precision product_precision(cudaDataType type, bool tensor_cores);

}  // namespace headroom::dry_run
