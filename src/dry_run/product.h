// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <cstdint>

#include "src/gpus/gpu.h"

namespace headroom::dry_run {

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
