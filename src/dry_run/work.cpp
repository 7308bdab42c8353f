// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/work.h"

#include <numeric>

namespace headroom::dry_run {
namespace {

/// Of the memory's peak rate, what kernels achieve that only move bytes.
constexpr double kMemoryShare = 0.84;
/// Of products without tensor cores.
constexpr double kPlainProductShare = 0.9;
/// Of the share that products of 16 bits achieve, those of float8.
constexpr double kFloat8Share = 0.75;
/// Of the links' peak rates.
constexpr double kHostLinkShare = 0.8;
constexpr double kPeerLinkShare = 0.7;
/// What a machine's host moves through its memory, for all its ranks together.
constexpr double kHostBytesPerSecond = 100e9;
/// Until work has begun and ended, beside what it moves.
constexpr std::int64_t kKernelNs = 2000;
constexpr std::int64_t kHostCopyNs = 5000;
constexpr std::int64_t kPeerCopyNs = 30'000;

std::int64_t at_rate(double amount, double per_second) {
  return static_cast<std::int64_t>(amount * 1e9 / per_second);
}

std::int64_t memory_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), kMemoryShare * gpu.memory_bytes_per_second);
}

bool has_tensor_cores(const Gpu& gpu, Precision precision) {
  return peak_flops(gpu, precision) > gpu.float32_flops;
}

std::int64_t product_ns(const Gpu& gpu, std::int64_t flops, Precision precision) {
  double share = has_tensor_cores(gpu, precision) ? gpu.products.share : kPlainProductShare;
  if (precision == Precision::float8) share *= kFloat8Share;
  return at_rate(static_cast<double>(flops), share * peak_flops(gpu, precision));
}

Work work_of(WorkKind kind, std::int64_t ns, std::int64_t launches) {
  Work work{.launches = launches};
  work.ns[static_cast<std::size_t>(kind)] = ns;
  return work;
}

bool is_complex(cudaDataType type) {
  return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_16F || type == CUDA_C_16BF;
}

}  // namespace

std::int64_t host_memory_ns(std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), kHostBytesPerSecond);
}

std::int64_t element_bytes(cudaDataType type) {
  switch (type) {
    case CUDA_C_64F:
      return 16;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_R_32F:
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    default:
      return 1;
  }
}

std::int64_t Work::all_ns() const { return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}); }

Work& Work::operator+=(const Work& other) {
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind) ns[kind] += other.ns[kind];
  launches += other.launches;
  product_flops += other.product_flops;
  return *this;
}

Work product_work(const Gpu& gpu, const Product& product) {
  const std::int64_t computing = product_ns(gpu, product.flops, product.precision);
  const std::int64_t moving = memory_ns(gpu, product.bytes);
  Work work = moving > computing ? work_of(WorkKind::memory, kKernelNs + moving, 1)
                                 : work_of(WorkKind::product, gpu.products.start_ns + computing, 1);
  work.product_flops = product.flops;
  return work;
}

Work attention_work(const Gpu& gpu, std::int64_t flops, Precision precision, double share) {
  const auto ns = static_cast<double>(product_ns(gpu, flops, precision));
  Work work = work_of(WorkKind::attention,
                      gpu.products.start_ns + static_cast<std::int64_t>(ns / share), 1);
  work.product_flops = flops;
  return work;
}

Work memory_work(const Gpu& gpu, std::int64_t bytes) {
  return work_of(WorkKind::memory, kKernelNs + memory_ns(gpu, bytes), 1);
}

Work device_copy_work(const Gpu& gpu, std::int64_t bytes) {
  return work_of(WorkKind::memory, kKernelNs + memory_ns(gpu, 2 * bytes), 0);
}

Work host_copy_work(const Gpu& gpu, std::int64_t bytes) {
  const double rate = kHostLinkShare * gpu.host_bytes_per_second;
  return work_of(WorkKind::host_link, kHostCopyNs + at_rate(static_cast<double>(bytes), rate), 0);
}

Work peer_copy_work(const Gpu& gpu, std::int64_t bytes) {
  const double rate = kPeerLinkShare * gpu.peer_bytes_per_second;
  return work_of(WorkKind::peer_link, kPeerCopyNs + at_rate(static_cast<double>(bytes), rate), 0);
}

std::int64_t product_flops(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type) {
  return 2 * m * n * k * batch * (is_complex(type) ? 4 : 1);
}

std::int64_t product_bytes(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type) {
  return (m * k + k * n + m * n) * batch * element_bytes(type);
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
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return Precision::float8;
    default:  // 8 bits and fewer run at no less than the rate of 16
      return Precision::float16;
  }
}

}  // namespace headroom::dry_run
