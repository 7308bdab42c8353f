// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/work.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::dry_run {
namespace {

// Shares of peak rates. docs/time_rates.md says where each was measured.

/// Of the memory's, by what a kernel reads: matrices, vectors, and numbers at most.
constexpr double kMatrixShare = 0.84;
constexpr double kVectorShare = 0.92;
constexpr double kNumberShare = 0.9;
/// What a thread moves that reads number by number, in bytes a cycle, however fast the memory is:
/// it waits for each.
constexpr double kNarrowNumbersOfThread = 3.9e-3;
constexpr double kScatteredNumbersOfThread = 4.4e-3;
constexpr double kNarrowScatteredNumbersOfThread = 2.8e-3;
/// What a block of threads moves at most, in bytes a cycle.
constexpr double kBytesOfBlock = 23;
/// What a multiprocessor takes in, in bytes a cycle: of vectors that the cache has, and of numbers
/// of 4 bytes and more, wherever they come from.
constexpr double kBytesOfMultiprocessor = 16.5;
/// Of batch normalization, how many numbers a second a multiprocessor passes over, forward and
/// backward.
constexpr double kBatchNormForward = 4.4e9;
constexpr double kBatchNormBackward = 3.7e9;
constexpr int kForwardPasses = 3;  // at most
/// Of the share that products of 16 bits achieve: those of float8, of TF32 on Hopper and later, of
/// matrices whose rows are 4 and 2 bytes apart, for which Hopper has no kernels of its own, and
/// convolutions.
constexpr double kFloat8Share = 0.75;
constexpr double kTf32ShareOfHopper = 0.7;
constexpr double kShareOf4Bytes = 0.3;
constexpr double kShareOf2Bytes = 0.16;
constexpr double kConvolutionShare = 0.8;
/// Of the time that a product's result takes to write, in which nothing is multiplied.
constexpr double kOpenWriting = 0.5;
/// Of the energy of an operation in 16 bits: one of float8.
constexpr double kFloat8Energy = 0.7;
/// Of a multiprocessor: each issues an instruction of a warp a cycle.
constexpr double kSchedulers = 4;
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

std::int64_t memory_ns(const Gpu& gpu, std::int64_t bytes, double share) {
  return at_rate(static_cast<double>(bytes), share * gpu.memory_bytes_per_second);
}

/// Of a GeForce those of TF32 have the peak of its lanes, and reach more of it.
bool has_tensor_cores(const Gpu& gpu, Precision precision) {
  if (precision == Precision::tensorfloat32) return gpu.tensorfloat32_flops > 0;
  return peak_flops(gpu, precision) > gpu.float32_flops;
}

/// What threads ask for that read number by number, as a share of the memory's rate.
double asking_share(const Gpu& gpu, double of_thread) {
  const double threads = 1.0 * gpu.capability.max_threads_per_multiprocessor * gpu.multiprocessors;
  return of_thread * threads * clock_rate(gpu) / gpu.memory_bytes_per_second;
}

/// What all multiprocessors take in, as a share of the memory's rate.
double taking_share(const Gpu& gpu) {
  const double rate = kBytesOfMultiprocessor * gpu.multiprocessors * clock_rate(gpu);
  return rate / gpu.memory_bytes_per_second;
}

/// Of what so many threads as a GPU holds ask for, where that limits them.
std::int64_t asking_ns(const Gpu& gpu, std::int64_t bytes, Access access) {
  switch (access) {
    case Access::vectors:
      return 0;
    case Access::numbers:
      return memory_ns(gpu, bytes, taking_share(gpu));
    case Access::scattered_numbers:
      return memory_ns(gpu, bytes, asking_share(gpu, kScatteredNumbersOfThread));
    case Access::narrow_scattered_numbers:
      return memory_ns(gpu, bytes, asking_share(gpu, kNarrowScatteredNumbersOfThread));
    default:
      return memory_ns(gpu, bytes, asking_share(gpu, kNarrowNumbersOfThread));
  }
}

double moving_share(const Gpu& gpu, const Moved& moved, Access access) {
  if (access != Access::vectors) return kNumberShare;
  const bool is_in_cache = moved.bytes < gpu.l2_bytes && !moved.is_part;
  return is_in_cache ? std::max(taking_share(gpu), kVectorShare) : kVectorShare;
}

/// Of instructions of warps.
double issue_ns(const Gpu& gpu, double instructions) {
  return instructions * 1e9 / (kSchedulers * gpu.multiprocessors * clock_rate(gpu));
}

/// Of an older GPU the tensor cores are half as fast, while such rows come as fast: assumed.
double row_share(const Gpu& gpu, std::int64_t row_bytes) {
  if (row_bytes > 4) return 1;
  const double share = row_bytes == 4 ? kShareOf4Bytes : kShareOf2Bytes;
  return multiplies_for_groups_of_warps(gpu) ? share : 2 * share;
}

double product_share(const Gpu& gpu, const Product& product) {
  if (!has_tensor_cores(gpu, product.precision)) return gpu.products.plain_share;
  double share = gpu.products.share;
  if (product.is_convolution && !waits_for_tensor_cores(gpu)) share *= kConvolutionShare;
  switch (product.precision) {
    case Precision::float8:
      return share * kFloat8Share;
    case Precision::tensorfloat32:
      return multiplies_for_groups_of_warps(gpu) ? share * kTf32ShareOfHopper : share;
    default:
      return share * row_share(gpu, product.row_bytes);
  }
}

std::int64_t product_ns(const Gpu& gpu, const Product& product) {
  return at_rate(static_cast<double>(product.flops),
                 product_share(gpu, product) * peak_flops(gpu, product.precision));
}

/// That units draw as much at their peak, whatever their precision, is assumed for all but float8.
double computing_joules(const Gpu& gpu, double flops, Precision precision) {
  const double share = precision == Precision::float8
                           ? kFloat8Energy
                           : peak_flops(gpu, Precision::float16) / peak_flops(gpu, precision);
  return gpu.power.joules_per_flop * share * flops;
}

double moving_joules(const Gpu& gpu, std::int64_t bytes) {
  return gpu.power.joules_per_byte * static_cast<double>(bytes);
}

Work work_of(WorkKind kind, std::int64_t ns, std::int64_t launches) {
  Work work{.launches = launches};
  work.ns[static_cast<std::size_t>(kind)] = ns;
  return work;
}

/// Of the device's memory, in so many nanoseconds.
Work moving_work(const Gpu& gpu, std::int64_t bytes, std::int64_t ns, std::int64_t launches) {
  Work work = work_of(WorkKind::memory, kKernelNs + ns, launches);
  work.moving_joules = moving_joules(gpu, bytes);
  return work;
}

}  // namespace

bool is_complex(cudaDataType type) {
  return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_16F || type == CUDA_C_16BF;
}

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
  computing_joules += other.computing_joules;
  moving_joules += other.moving_joules;
  return *this;
}

Work product_work(const Gpu& gpu, const Product& product) {
  const std::int64_t computing =
      product_ns(gpu, product) + memory_ns(gpu, product.written_bytes, 1 / kOpenWriting);
  const std::int64_t moving = memory_ns(gpu, product.bytes, kMatrixShare);
  Work work = moving > computing ? work_of(WorkKind::memory, kKernelNs + moving, 1)
                                 : work_of(WorkKind::product, gpu.products.start_ns + computing, 1);
  work.product_flops = product.flops;
  work.computing_joules =
      computing_joules(gpu, static_cast<double>(product.flops), product.precision);
  work.moving_joules = moving_joules(gpu, product.bytes);
  return work;
}

Work attention_work(const Gpu& gpu, std::int64_t flops, Precision precision, double share) {
  const auto ns = static_cast<double>(product_ns(gpu, {flops, precision}));
  Work work = work_of(WorkKind::attention,
                      gpu.products.start_ns + static_cast<std::int64_t>(ns / share), 1);
  work.product_flops = flops;
  work.computing_joules = computing_joules(gpu, static_cast<double>(flops), precision);
  return work;
}

Work instruction_work(const Gpu& gpu, const ptx::Count& count, std::int64_t blocks) {
  double ns = issue_ns(gpu, count.issued);
  double flops = 0;
  double joules = 0;
  for (std::size_t i = 0; i < count.flops.size(); ++i) {
    const auto of_precision = static_cast<std::int64_t>(count.flops[i]);
    ns += static_cast<double>(product_ns(gpu, {of_precision, static_cast<Precision>(i)}));
    flops += count.flops[i];
    joules += computing_joules(gpu, count.flops[i], static_cast<Precision>(i));
  }
  // A multiprocessor that has a block more than others is the last to be done.
  const double share = static_cast<double>(blocks) / gpu.multiprocessors;
  Work work = work_of(WorkKind::attention,
                      kKernelNs + static_cast<std::int64_t>(ns / share * std::ceil(share)), 1);
  work.product_flops = static_cast<std::int64_t>(flops);
  work.computing_joules = joules;
  return work;
}

Work thread_work(const Gpu& gpu, std::int64_t instructions) {
  constexpr double kThreadsOfWarp = 32;
  const double ns = issue_ns(gpu, static_cast<double>(instructions) / kThreadsOfWarp);
  return work_of(WorkKind::attention, kKernelNs + static_cast<std::int64_t>(ns), 1);
}

Work side_by_side(const Work& one, const Work& other) {
  Work both = one.all_ns() < other.all_ns() ? other : one;
  both.computing_joules = one.computing_joules + other.computing_joules;
  both.moving_joules = one.moving_joules + other.moving_joules;
  return both;
}

bool is_kept(const Gpu& gpu, std::int64_t bytes_of_block, std::int64_t blocks,
             std::int64_t threads_of_block) {
  const std::int64_t of_multiprocessor =
      std::min<std::int64_t>(gpu.capability.max_blocks_per_multiprocessor,
                             gpu.capability.max_threads_per_multiprocessor / threads_of_block);
  const std::int64_t at_once = std::min(blocks, gpu.multiprocessors * of_multiprocessor);
  return bytes_of_block * at_once <= gpu.l2_bytes;
}

std::int64_t moved_bytes(const Gpu& gpu, const Parts& parts, std::int64_t blocks,
                         std::int64_t threads_of_block) {
  if (parts.again_bytes == 0) return parts.bytes;
  const bool is_found = is_kept(gpu, parts.bytes / blocks, blocks, threads_of_block);
  return parts.bytes + (is_found ? 0 : parts.again_bytes);
}

Work memory_work(const Gpu& gpu, const Moved& moved, Access access, std::int64_t blocks) {
  double share = moving_share(gpu, moved, access);
  if (blocks > 0) {
    const double of_blocks = kBytesOfBlock * static_cast<double>(blocks) * clock_rate(gpu);
    share = std::min(share, of_blocks / gpu.memory_bytes_per_second);
  }
  const std::int64_t asked = moved.asked_bytes > 0 ? moved.asked_bytes : moved.bytes;
  const std::int64_t ns =
      std::max(memory_ns(gpu, moved.bytes, share), asking_ns(gpu, asked, access));
  return moving_work(gpu, moved.bytes, ns, 1);
}

/// A block works on a channel, so that few channels leave multiprocessors idle; and where memory is
/// fast it takes as long for a number of 16 bits as for one of 32.
Work batch_norm_work(const Gpu& gpu, std::int64_t elements, int width, std::int64_t channels,
                     int passes) {
  const std::int64_t numbers = passes * elements;
  const double busy =
      static_cast<double>(std::clamp<std::int64_t>(channels, 1, gpu.multiprocessors));
  const double rate = passes > kForwardPasses ? kBatchNormBackward : kBatchNormForward;
  const std::int64_t computing = at_rate(static_cast<double>(numbers), rate * busy);
  const std::int64_t moving = memory_ns(gpu, numbers * width, kNumberShare);
  return moving_work(gpu, numbers * width, std::max(computing, moving), 1);
}

Work device_copy_work(const Gpu& gpu, std::int64_t bytes) {
  return moving_work(gpu, 2 * bytes, memory_ns(gpu, 2 * bytes, kMatrixShare), 0);
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

std::int64_t row_bytes(std::initializer_list<std::int64_t> leading, cudaDataType type) {
  std::int64_t all = 16;  // of which no more counts
  for (const std::int64_t one : leading) all |= one * element_bytes(type);
  return all & -all;
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
