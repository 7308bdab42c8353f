// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/work.h"

#include <algorithm>

namespace headroom::dry_run {
namespace {

std::int64_t at_rate(double amount, double per_second) {
  return std::max(kShortestKernelNs, static_cast<std::int64_t>(amount * 1e9 / per_second));
}

bool is_complex(cudaDataType type) {
  return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_16F || type == CUDA_C_16BF;
}

}  // namespace

std::int64_t kernel_ns(const Gpu& gpu, std::int64_t threads) {
  return memory_ns(gpu, threads * kBytesPerThread);
}

std::int64_t memory_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.memory_bytes_per_second);
}

std::int64_t host_copy_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.host_bytes_per_second);
}

std::int64_t peer_copy_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.peer_bytes_per_second);
}

std::int64_t product_ns(const Gpu& gpu, std::int64_t flops, Precision precision) {
  return at_rate(static_cast<double>(flops), peak_flops(gpu, precision));
}

std::int64_t product_flops(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type) {
  return 2 * m * n * k * batch * (is_complex(type) ? 4 : 1);
}

bool rounds_to_tf32(cublasComputeType_t compute) { return compute == CUBLAS_COMPUTE_32F_FAST_TF32; }

Precision product_precision(cudaDataType type, bool tensor_cores) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_C_16F:
      return Precision::float16;
    case CUDA_R_16BF:
    case CUDA_C_16BF:
      return Precision::bfloat16;
    case CUDA_R_64F:
    case CUDA_C_64F:
      return Precision::float64;
    case CUDA_R_32F:
    case CUDA_C_32F:
      return tensor_cores ? Precision::tensorfloat32 : Precision::float32;
    default:  // 8 bits and fewer run at no less than the rate of 16
      return Precision::float16;
  }
}

}  // namespace headroom::dry_run
